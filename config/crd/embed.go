// Package crd holds the CRDs, for programs that need them without an API server.
package crd

import "embed"

// Bases has each CRD in a file of the folder bases.
//
//go:embed bases/*.yaml
var Bases embed.FS
