// Package runbooks holds the runbooks, for programs that show them.
package runbooks

import "embed"

// Pages has README.md, the list, and a page for each reason or alert.
//
//go:embed *.md
var Pages embed.FS
