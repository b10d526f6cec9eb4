// Package extapply holds the generated apply configurations of foreign kinds
// that publish none of their own. Regenerate with `make generate`.
package extapply
