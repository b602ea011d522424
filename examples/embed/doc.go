// Package embed holds small programs that embed ralph, as examples that are tested. docs/embedding.md explains them.
package embed
