// Package validity says whether a benchmark's figure is believable, from what was observed
// while it was measured.
//
// A check whose facts were not observed is NotRun and says what is missing; it never passes.
// Where facts were observed, a check passes, cautions or rejects. A caution is on a figure that
// is right, and says less than it seems to. A rejected figure is not of what it claims to be.
package validity
