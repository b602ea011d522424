// Package postgres keeps what loops count, and the records of their decisions, in PostgreSQL 14 or later, for programs on any number of
// machines.
//
// It promises what [loop.Store] promises across machines: decisions of one session come one after the other, whichever process makes
// them, and processes that want the same session take turns. A decision is one transaction of two round trips. A process that is killed
// within it has changed nothing; one that is frozen loses its session when the deadline of its decision is over, and cannot save
// anything afterwards. A decision that does not get its session by its deadline stops, and says so.
//
// It leaves out how PostgreSQL is run, its backups, and how long records are kept. Through a pooler it needs connections that stay with
// a transaction at least.
//
// Begin with [Open].
package postgres
