// Package nbd attaches the exports of an NBD server on this node to the kernel's /dev/nbdN by
// netlink, and lists what is attached. The kernel keeps with a device which life of the server
// it belongs to.
//
// A device must not be connected to another life of its server unless that one has everything
// written to the former. A server that ended uncleanly may have lost writes that it had
// acknowledged. An imported pool above the device would not notice. So Attach takes a device of
// another life for a foreign one, and a caller of Reconnect (NBD_CMD_RECONFIGURE) has to prove
// it.
//
// EIO does not prove a server's death. Once its connections are known to be dead, new requests
// fail at once. A request that was under way, even udev's look at a new device, waits for
// Device.Timeout (with 0, indefinitely). Any process that waits for that request, or for a lock
// that its reader has, waits as long. Disconnect ends it, and a Probe ends with its context. So
// learn of a server's death from its process or its socket, and then Disconnect.
//
// Facts on the kernel are from Linux's drivers/block/nbd.c and
// include/uapi/linux/nbd-netlink.h, 5.14 to 6.12.
package nbd
