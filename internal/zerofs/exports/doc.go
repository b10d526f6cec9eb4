// Package exports makes and grows the exports of a ZeroFS server, which are the files of
// its folder /.nbd, over 9P2000.L on its Unix socket. Exports are never removed and
// never shrink: both would destroy data. Beside them lies the mark of who used the file
// system last.
package exports
