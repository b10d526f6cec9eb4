// Package analysis makes of the recorded runs of a benchmark what a report says:
// figures with their intervals, latencies put together over repeats, levels of the
// rate, what is to be thought of each run, and, within each durability tier, which
// variants differ.
//
// A run that a check rejects is shown with its reason and does not count: its
// figure is not of what it claims to be. One that is only out of line does.
package analysis
