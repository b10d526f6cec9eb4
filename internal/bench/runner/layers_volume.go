package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/commitcost"
	"github.com/pgstorage/pgstorage/internal/bench/program"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// testFsync is one write of 8 kB and its flush on the scratch volume of the WAL's
// StorageClass. It stops pg_test_fsync once it has tested the server's
// method; it takes its file along.
func (l *layering) testFsync(ctx context.Context) (time.Duration, error) {
	told := commitcost.TestFsync{Method: l.fsyncMethod}
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	file := filepath.Join(l.spec.Scratch[0].Dir, "pg_test_fsync.out")
	// Five methods at most come before the section that follows.
	const methods = 5
	_, err := program.Command{
		Path: program.In(l.Bin, "pg_test_fsync"), Args: commitcost.TestFsyncArgs(file, l.spec.Each()), Env: program.Environment(), Dir: l.WorkDir,
		Timeout: methods*l.spec.Each() + overtime,
		Stdout: &lineWriter{line: func(line string) {
			if told.Line(line) {
				stop()
			}
		}},
	}.Run(stopping)
	if left := os.Remove(file); left != nil && !errors.Is(left, fs.ErrNotExist) {
		return 0, left
	}
	took, unread := told.Result()
	switch {
	case unread == nil:
		// The runner stopped it after the line that it needs.
		return took, nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return 0, errors.New("the image has no pg_test_fsync")
	case err != nil && stopping.Err() == nil:
		return 0, err
	}
	return 0, unread
}

// lineWriter calls line with each whole line that is written to it.
type lineWriter struct {
	line func(string)
	rest []byte
}

// maxLine bounds what is kept of a line that does not end.
const maxLine = 64 << 10

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			break
		}
		w.line(string(w.rest[:i]))
		w.rest = w.rest[i+1:]
	}
	if len(w.rest) > maxLine {
		return 0, errors.New("a line without an end")
	}
	return len(p), nil
}

// maxFioResult bounds what is read of a file that another container wrote.
const maxFioResult = 1 << 20

// FioResult is what the container of fio leaves: the layers of the volumes.
type FioResult []commitcost.Measurement

// readFio takes over what was measured of the volumes before the runner began.
func (l *layering) readFio() {
	if len(l.spec.Scratch) == 0 {
		return
	}
	for _, s := range l.spec.Scratch {
		l.volumes = append(l.volumes, commitcost.Measurement{Layer: record.Layer{Name: s.Layer}})
	}
	if l.spec.FioResult == "" {
		l.noVolumes(errors.New("spec.layers.fioImage is not set"))
		return
	}
	found, err := readFioResult(l.spec.FioResult)
	if err != nil {
		l.noVolumes(fmt.Errorf("fio left no result: %w", err))
		return
	}
	for i := range l.volumes {
		v := &l.volumes[i]
		v.Note = "fio left no result of it"
		for _, f := range found {
			if f.Name != v.Name {
				continue
			}
			if f.Note != "" {
				v.Note = f.Note
			} else if credible(f.Milliseconds, int(l.spec.Repeats)) {
				v.Milliseconds, v.Method, v.Note = f.Milliseconds, excerpt.Truncate(f.Method, maxMethod), ""
			}
		}
	}
}

// maxMethod bounds what is kept of how another container says it measured.
const maxMethod = 400

// credible reports whether there are as many figures as requested repeats, each one possible
// for a test of less than a day.
func credible(milliseconds []float64, repeats int) bool {
	const day = 24 * 60 * 60 * 1000
	return len(milliseconds) == repeats && !slices.ContainsFunc(milliseconds, func(ms float64) bool { return ms <= 0 || ms > day })
}

func (l *layering) noVolumes(why error) {
	for i := range l.volumes {
		l.volumes[i].Note = why.Error()
	}
}

func readFioResult(path string) (FioResult, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var found FioResult
	if err := json.NewDecoder(io.LimitReader(f, maxFioResult)).Decode(&found); err != nil {
		return nil, err
	}
	return found, nil
}

// Fio measures a write and its flush on each scratch volume, and leaves the result
// where the runner finds it. It runs before the runner, in the container of fio: what
// cannot be measured is said in the result.
func Fio(ctx context.Context, s spec.Spec, log *slog.Logger) error {
	if s.Layers == nil || s.Layers.FioResult == "" {
		return errors.New("the specification names no result of fio")
	}
	var all FioResult
	for _, volume := range s.Layers.Scratch {
		all = append(all, fioLayer(ctx, s.Layers, volume, log))
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("result of fio: %w", err)
	}
	return os.WriteFile(s.Layers.FioResult, raw, 0o644) //nolint:gosec // for the other container
}

func fioLayer(ctx context.Context, s *spec.Layers, volume spec.Scratch, log *slog.Logger) commitcost.Measurement {
	l := commitcost.Measurement{Layer: record.Layer{Name: volume.Layer}}
	direct, way := unbuffered(volume.Dir), "through the page cache"
	if direct {
		way = "past the page cache"
	}
	for range s.Repeats {
		took, err := fioOnce(ctx, s, volume.Dir, direct)
		if err != nil {
			l.Milliseconds, l.Note = nil, err.Error()
			log.Warn("fio", "volume", volume.Layer, "error", err)
			return l
		}
		l.Milliseconds = append(l.Milliseconds, milliseconds(took))
		log.Info("fio", "volume", volume.Layer, "took", took)
	}
	l.Method = fmt.Sprintf("fio, writes of 8 kB %s, fdatasync after each, StorageClass %s", way, volume.StorageClass)
	return l
}

func fioOnce(ctx context.Context, s *spec.Layers, dir string, direct bool) (time.Duration, error) {
	result := s.FioResult + ".once"
	defer func() { _ = os.Remove(result) }()
	_, err := program.Command{
		Path: "fio", Args: commitcost.FioArgs(dir, result, direct, s.Each()), Env: program.Environment(), Dir: dir, Timeout: s.Each() + overtime,
	}.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return 0, errors.New("the image of spec.layers.fioImage has no fio on its PATH")
	}
	if err != nil {
		return 0, err
	}
	raw, err := os.ReadFile(result)
	if err != nil {
		return 0, err
	}
	return commitcost.ParseFio(raw)
}
