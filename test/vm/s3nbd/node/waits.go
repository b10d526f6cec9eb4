//go:build guest

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// slow is when a command of the host has taken so long that the console says what it waits for.
const slow = 3 * time.Minute

// waits prints what may hold up a command: the load, the processes and the ends of the logs.
// Of processes that do not wake up it prints the kernel's stacks.
const waits = `uptime
ps -eo pid,ppid,stat,time,wchan:24,args --sort=-time | grep -v '\]$' | head -n 30
grep -l ') D ' /proc/[0-9]*/stat | while read f; do echo $f; cut -c-60 $f; cat ${f%stat}stack; done
zpool iostat -r 1 1 | tail -n 12
tail -n 12 /run/*.log /run/postgresql/*.log
dmesg | tail -n 12`

// report prints what waits whenever the command has taken another while. The host waits for one
// command at a time, so it cannot ask.
func report(ctx context.Context, command string) (stop context.CancelFunc) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(slow)
		defer tick.Stop()
		for begin := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// A program that hangs as the command does must not keep the next report back.
			limited, end := context.WithTimeout(ctx, slow/2)
			out, err := server.Run(limited, "bash", "-c", waits)
			end()
			fmt.Printf("node: %s: still not done after %.0f s\n%s%v\n", command, time.Since(begin).Seconds(), out, err)
		}
	}()
	return stop
}
