// Package analysis derives an Analysis from the recorded runs of a benchmark. It has figures
// with their intervals, latencies merged over repeats, and levels of the rate. It also has
// findings about each run, and the differences between variants of a durability tier.
//
// A run that a check rejects is kept with its reason but excluded from the figures. It
// did not measure what it claims to measure. An outlier still counts.
package analysis
