// Package histogram counts latencies so that runs, repeats and threads can be
// put together afterwards: percentiles of runs cannot be averaged, histograms
// can be added.
//
// It is an HdrHistogram (https://hdrhistogram.org) of one fixed shape, so that
// any two can be added: whole microseconds from 0 to 24 hours with three
// significant digits. A percentile is the upper edge of the bucket that it falls
// in, so it is never below the true one; it is above it by at most 0.1 %, and
// below 2.048 ms not at all. The rank of a percentile is rounded to a whole one.
package histogram
