package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/benchmark"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
)

type followOptions struct{ timeout time.Duration }

func (f *followOptions) flags(c *cobra.Command) {
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "how long to follow, such as 1h; 0: until it ends")
}

// errTimeout ends following, not the benchmark.
var errTimeout = errors.New("--timeout: the time is over; the benchmark goes on, and bench follow shows it again")

// follow a benchmark to its end, and print its result.
func (a *app) follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, options followOptions) error {
	if options.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, options.timeout, errTimeout)
		defer cancel()
	}
	show := newProgress(a.streams.Out)
	var last *v1alpha1.PgBenchmark
	var failure error
	err := gather.Follow(ctx, c, key, func(b *v1alpha1.PgBenchmark) (bool, error) {
		last = b
		show.line(b)
		ended, err := benchmark.Ended(b)
		failure = err
		return ended, nil
	})
	show.end()
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return errTimeout
	case ctx.Err() != nil:
		return errors.New("interrupted; the benchmark goes on, and bench follow shows it again")
	case err != nil:
		return err
	case failure != nil:
		return failure
	}
	_, err = io.WriteString(a.streams.Out, benchmark.Result(last, false, a.style()))
	return err
}

// progress on a terminal is a bar that moves; elsewhere a line for each change.
type progress struct {
	to io.Writer
	// width of the terminal; 0: there is none.
	width int
	last  string
}

// usualWidth of a terminal that does not tell.
const usualWidth = 80

func newProgress(to io.Writer) *progress { return &progress{to: to, width: widthOf(to)} }

// widthOf a terminal in characters; 0 where there is none.
func widthOf(to io.Writer) int {
	f, ok := to.(*os.File)
	if !ok || !printers.IsTerminal(to) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return usualWidth
}

// line shows how far a benchmark is. That it cannot be written is seen by the result,
// which is written to the same place.
func (p *progress) line(b *v1alpha1.PgBenchmark) {
	if p.width > 0 {
		p.last = benchmark.BarLine(b, p.width-1)
		_, _ = fmt.Fprintf(p.to, "\r%s\x1b[K", p.last)
		return
	}
	if text := benchmark.Line(b); text != p.last {
		p.last = text
		_, _ = fmt.Fprintln(p.to, text)
	}
}

// end leaves the bar as it was last.
func (p *progress) end() {
	if p.width > 0 && p.last != "" {
		_, _ = fmt.Fprintln(p.to)
	}
}
