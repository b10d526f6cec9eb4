//go:build linux

package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/process" //nolint:depguard // the node of a test
)

const (
	logs    = "/var/log/ceph"
	sockets = "/run/ceph"
	// askTime bounds a question to a daemon.
	askTime = time.Minute
)

// daemon of Ceph.
type daemon struct {
	name    string
	process *process.Process
}

// start starts a daemon that ends with us. Its log is logs/<kind>.<id>.log, and what it prints
// is beside it.
func (c *Cluster) start(kind, id string) error {
	name := kind + "." + id
	out, err := os.OpenFile(logs+"/"+name+".out", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() //nolint:errcheck // the child has its own copy
	cmd := exec.Command("ceph-"+kind, "-f", "-i", id)
	// Rook's pods set this too. By its process id alone, the mons may take a daemon after a
	// boot for the one before it, which they still have as up.
	cmd.Env = append(os.Environ(), "CEPH_USE_RANDOM_NONCE=true")
	cmd.Stdout, cmd.Stderr = out, out
	p, err := process.Start(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	fmt.Printf("         started %s\n", name)
	c.daemons = append(c.daemons, &daemon{name, p})
	return nil
}

var errDead = errors.New("it has ended")

// alive asks only while every daemon runs.
func (c *Cluster) alive(there func() (bool, error)) func() (bool, error) {
	return func() (bool, error) {
		for _, d := range c.daemons {
			select {
			case <-d.process.Done():
				return false, fmt.Errorf("%s: %w: %w", d.name, errDead, d.process.Wait(time.Second))
			default:
			}
		}
		return there()
	}
}

// ask sends a command to a daemon by its admin socket. The command is JSON that ends with a
// zero byte; the answer is a length in four bytes and JSON. Ceph's command line does the same,
// but takes seconds on an emulated processor, because it is Python.
func ask(daemon string, command map[string]string, answer any) error {
	if err := askAt(sockets+"/"+daemon+".asok", command, answer); err != nil {
		return fmt.Errorf("%s to %s: %w", command["prefix"], daemon, err)
	}
	return nil
}

func askAt(socket string, command map[string]string, answer any) error {
	conn, err := net.DialTimeout("unix", socket, askTime)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // read only from here on
	if err := conn.SetDeadline(time.Now().Add(askTime)); err != nil {
		return err
	}
	text, err := json.Marshal(command)
	if err != nil {
		return err
	}
	if _, err := conn.Write(append(text, 0)); err != nil {
		return err
	}
	var length uint32
	if err := binary.Read(conn, binary.BigEndian, &length); err != nil {
		return err
	}
	content := make([]byte, length)
	if _, err := io.ReadFull(conn, content); err != nil {
		return err
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("%w: %s", err, content)
	}
	return nil
}
