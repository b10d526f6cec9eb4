package nbd

import (
	"os"
	"path/filepath"
	"strings"
)

// BootID of the running kernel, which containers share. Root is as for New.
func BootID(root string) (string, error) {
	id, err := os.ReadFile(filepath.Join("/", root, "proc/sys/kernel/random/boot_id"))
	return strings.TrimSpace(string(id)), err
}
