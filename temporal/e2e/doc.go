// Package e2e tests package temporal with a server, with workers that are killed, frozen or without a network, and with agents in
// real work trees. It may change in any version: it has no code but tests, and building the server takes minutes.
package e2e
