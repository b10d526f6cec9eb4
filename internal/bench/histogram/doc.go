// Package histogram counts latencies so that runs, repeats and threads can be merged
// afterwards. Percentiles of runs cannot be averaged; histograms can be added.
//
// It is an HdrHistogram (https://hdrhistogram.org) of one fixed shape, so that any two can be
// added. It has whole microseconds from 0 to 24 hours with three significant digits. A
// percentile is the upper edge of its bucket, so it is never below the true one. It is above it
// by at most 0.1%, and below 2.048 ms not at all. The rank of a percentile is rounded to a
// whole one.
package histogram
