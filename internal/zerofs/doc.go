// Package zerofs knows ZeroFS, the server that turns a prefix of a bucket into
// network block devices: how it is configured, what is kept about its life on a
// node, and what its failures mean.
//
// Facts about 0.19 are of the crate zerofs 0.19.1 and were tried with its program;
// facts about 2 are of Barre/ZeroFS at 4eec8ec (2.3.0), whose program was not run.
package zerofs
