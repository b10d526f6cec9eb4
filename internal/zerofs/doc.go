// Package zerofs knows ZeroFS, the server that turns a prefix of a bucket into network
// block devices. It has the configuration of a server, the files about its life on a
// node, and the meaning of its failures.
//
// Facts about 0.19 are from the crate zerofs 0.19.1 and were tried with its program.
// Facts about 2 are from Barre/ZeroFS at 4eec8ec (2.3.0), whose program was not run.
package zerofs
