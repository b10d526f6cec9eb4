// Package tmpfs keeps volumes in the memory of a node. Each is a tmpfs in the mount namespace
// of the node's process 1, where the kubelet sees it. It runs no program of the node.
//
// A volume is a folder in its tmpfs, whose name is the volume's incarnation. After a reboot the
// path of an earlier volume does not exist, so no pod starts on an empty one in its place.
package tmpfs
