// Package observer does what a benchmark needs a superuser for, apart from pgbench: it
// reads what the server's kernel counts, who the standbys are, and empties caches. It
// runs in a container of its own, which alone has the superuser's password, and does
// nothing but a few fixed operations for the runner, by a Unix socket.
//
// The author of a benchmark's script owns the benchmark's database, so that all that is
// in it is theirs: functions, operators, views, settings. The observer therefore
// connects to a database that a superuser owns, with an empty search_path. It is in the
// benchmark's database once, before any script was: to let the owner call amcheck.
package observer
