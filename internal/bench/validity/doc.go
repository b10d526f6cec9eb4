// Package validity says whether a benchmark's figure may be believed, from what
// was observed while it was taken.
//
// A check whose facts were not observed is NotRun and says what is missing; it
// never passes. Where facts were observed, a check passes, cautions (the figure is
// right, and says less than it seems to) or rejects (the figure is not of what it
// claims to be).
package validity
