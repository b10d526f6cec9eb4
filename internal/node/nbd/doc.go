// Package nbd attaches the exports of an NBD server on this node to the kernel's
// /dev/nbdN by netlink, tells what is attached, and keeps on disk which life of the
// server a device belongs to.
//
// A device must not be connected to another life of its server unless that one has all
// that was written to the former: a server that ended uncleanly may have lost writes
// that it had acknowledged, and what is above the device, such as an imported pool,
// would not notice. So Attach takes a device of another life for somebody else's, and
// who calls Reconnect (NBD_CMD_RECONFIGURE) has to prove it.
//
// EIO is no sign of a server's death. Once its connections are known to be dead, new
// requests fail at once; but one that was under way, be it only udev's look at a new
// device, waits for Device.Timeout (with 0, for ever), and whoever waits for that one, or for a lock that
// its reader has, waits as long. Disconnect ends it, and a Probe ends with its context.
// So learn of a server's death from its process or its socket, and then Disconnect.
//
// Facts on the kernel are from Linux' drivers/block/nbd.c and
// include/uapi/linux/nbd-netlink.h, 5.14 to 6.12.
package nbd
