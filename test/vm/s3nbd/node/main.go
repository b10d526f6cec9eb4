//go:build guest

// Command node is what the host of test/vm boots as a node with a pool over buckets. It runs
// the pods of its ZeroFS servers as the kubelet would, the agent, Postgres on the pool, and
// clients of it. The host sends commands, a line each. The command reports each commit as soon
// as it is acknowledged: the host cannot forget it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/effort"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/job"
)

const (
	// disk of the node, which outlives its boots.
	disk = "/dev/disk/by-id/virtio-node"
	// kept is the one directory on it.
	kept = "/var/lib/pgstorage"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Println("usage: node HOST:PORT")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Println("node:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	n := &node{host: &host{conn: conn}, servers: map[string]*pod{}}
	if err := n.prepare(ctx); err != nil {
		return err
	}
	n.host.send("ready")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "quit" {
			return nil
		}
		begin := time.Now()
		stop := report(ctx, lines.Text())
		out, err := n.do(ctx, words[0], words[1:])
		stop()
		fmt.Printf("node: %s: %.1f s, %v\n", lines.Text(), time.Since(begin).Seconds(), err)
		if err != nil {
			n.host.send("failed %s", strconv.Quote(err.Error()))
			continue
		}
		n.host.send("done %s", strconv.Quote(out))
	}
	return lines.Err()
}

// host gets a line for each fact.
type host struct {
	mu   sync.Mutex
	conn net.Conn
}

// send ignores errors: a host that cannot read the line reports its own.
func (h *host) send(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = fmt.Fprintf(h.conn, format+"\n", args...)
}

type node struct {
	host     *host
	job      job.Job
	servers  map[string]*pod
	agent    *agent
	instance server.Instance
	clients  *clients
}

// prepare what a node has after each boot.
func (n *node) prepare(ctx context.Context) error {
	content, err := os.ReadFile(job.Name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &n.job); err != nil {
		return err
	}
	if err := os.Setenv("PATH", "/payload:"+os.Getenv("PATH")); err != nil {
		return err
	}
	if _, err := server.Run(ctx, "zgenhostid", "-f", fmt.Sprintf("%08x", n.job.HostID)); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "blkid", disk).Output(); err != nil || len(out) == 0 {
		if _, err := server.Run(ctx, "mkfs.ext4", "-q", disk); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(kept, 0o755); err != nil {
		return err
	}
	if _, err := server.Run(ctx, "mount", disk, kept); err != nil {
		return err
	}
	for _, s := range n.job.Servers {
		n.servers[s.Name] = &pod{Server: s}
	}
	n.agent = &agent{storage: n.job.Storage}
	n.instance = server.Instance{Data: "/var/lib/postgresql/data", WAL: "/var/lib/postgresql/wal", Settings: n.job.Parameters}
	n.clients = &clients{host: n.host, first: n.job.FirstID}
	return n.agent.write()
}

var errArguments = errors.New("wrong arguments")

// do runs a command of the host.
func (n *node) do(ctx context.Context, verb string, args []string) (string, error) {
	switch verb {
	case "sh":
		return server.Run(ctx, "bash", "-euo", "pipefail", "-c", strings.Join(args, " "))
	case "serve", "stop", "kill", "signal", "preflight", "fails", "phase":
		return n.ofServer(ctx, verb, args)
	case "watch", "unwatch", "until", "grow":
		return n.ofAgent(ctx, verb, args)
	}
	return n.ofDatabase(ctx, verb, args)
}

func (n *node) ofServer(ctx context.Context, verb string, args []string) (string, error) {
	if len(args) == 0 || n.servers[args[0]] == nil {
		return "", errArguments
	}
	p := n.servers[args[0]]
	switch verb {
	case "serve":
		return "", p.serve()
	case "stop":
		return p.stop()
	case "kill":
		return "", p.kill()
	case "signal":
		return p.signal(args[1])
	case "preflight":
		return p.preflight(ctx)
	case "fails":
		return p.fails()
	}
	return p.phase(args[1], args[2])
}

func (n *node) ofAgent(ctx context.Context, verb string, args []string) (string, error) {
	switch verb {
	case "watch":
		return "", n.agent.watch()
	case "unwatch":
		return "", n.agent.kill()
	case "grow":
		return "", n.agent.grow(args[0])
	}
	return n.agent.until(ctx, args[0], args[1])
}

func (n *node) ofDatabase(ctx context.Context, verb string, args []string) (string, error) {
	switch verb {
	case "up":
		return n.up(ctx)
	case "down":
		return "", n.down(ctx)
	case "pgbench":
		return n.pgbench(ctx, args[0])
	case "load":
		return "", n.clients.load(ctx)
	case "mark":
		return "", n.clients.remember(args[0])
	case "present":
		return n.present(ctx)
	case "amcheck":
		return n.amcheck(ctx)
	case "versions":
		return versions(ctx)
	case "effort":
		return effort.Measure().String(), nil
	}
	return "", fmt.Errorf("%q is no verb", verb)
}
