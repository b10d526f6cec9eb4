// Package comparison says which variants of a benchmark differ, and ranks them, within one
// durability tier and never across.
//
// A commit that is acknowledged before its flush promises less than one that is acknowledged
// after it. Published figures mislead by comparing the rates of both. So no function here takes
// two results. Results go in together, and come out as one Group for each tier. Only a Group
// compares and ranks, and only its own results. Groups may be shown side by side. Between
// compares one benchmark with an older one: results with the same name and the same tier in
// both.
package comparison
