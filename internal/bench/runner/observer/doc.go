// Package observer does what a benchmark needs a superuser for, apart from pgbench. It reads
// what the server's kernel counts and which standbys there are, and empties caches. It runs in
// a container of its own, which alone has the superuser's password. It does only a few fixed
// operations for the runner, by a Unix socket.
//
// The author of a benchmark's script owns the benchmark's database, and so everything in it:
// functions, operators, views, settings. The observer therefore connects to a database that a
// superuser owns, with an empty search_path. It enters the benchmark's database once, before
// any script: to let the owner call amcheck.
package observer
