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
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "maximum time to follow, such as 1h; 0 follows until the benchmark ends")
}

// errTimeout ends the command, not the benchmark.
var errTimeout = errors.New("timeout expired; the benchmark is still running, and bench follow shows it again")

// follow shows the progress of a benchmark until it ends, and then its result.
func (a *app) follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, options followOptions) error {
	if options.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, options.timeout, errTimeout)
		defer cancel()
	}
	show := newProgress(a.streams.Out)
	var last *v1alpha1.PgBenchmark
	var failure error
	err := gather.Follow(ctx, c, key, func(b *v1alpha1.PgBenchmark) (ended bool) {
		last = b
		show.line(b)
		ended, failure = benchmark.Ended(b)
		return ended
	})
	show.end()
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return errTimeout
	case ctx.Err() != nil:
		return errors.New("interrupted; the benchmark is still running, and bench follow shows it again")
	case err != nil:
		return err
	case failure != nil:
		return failure
	}
	_, err = io.WriteString(a.streams.Out, benchmark.ResultText(last, false, a.style()))
	return err
}

// progress draws one line on a terminal, and prints a line for each change elsewhere.
type progress struct {
	to io.Writer
	// width of the terminal in characters; 0 without a terminal.
	width int
	last  string
}

// defaultWidth is the width of a terminal that does not report one.
const defaultWidth = 80

func newProgress(to io.Writer) *progress { return &progress{to: to, width: widthOf(to)} }

// widthOf returns the width of a terminal in characters, and 0 without a terminal.
func widthOf(to io.Writer) int {
	f, ok := to.(*os.File)
	if !ok || !printers.IsTerminal(to) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return defaultWidth
}

// line shows the progress of a benchmark.
func (p *progress) line(b *v1alpha1.PgBenchmark) {
	if p.width > 0 {
		p.show(benchmark.BarLine(b, p.width-1))
		return
	}
	p.show(benchmark.Line(b))
}

// show shows a line, truncated to the terminal. It ignores a failed write, because writing
// the result to the same stream fails too.
func (p *progress) show(text string) {
	if p.width == 0 {
		if text != p.last {
			_, _ = fmt.Fprintln(p.to, text)
		}
		p.last = text
		return
	}
	if line, most := []rune(text), p.width-1; most > 0 && len(line) > most {
		text = string(line[:most-1]) + "…"
	}
	p.last = text
	_, _ = fmt.Fprintf(p.to, "\r%s\x1b[K", text)
}

// end moves to the line below the bar.
func (p *progress) end() {
	if p.width > 0 && p.last != "" {
		_, _ = fmt.Fprintln(p.to)
	}
}
