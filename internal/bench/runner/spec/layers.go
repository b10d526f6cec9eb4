package spec

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Layers of the storage that are measured before the tables are filled.
type Layers struct {
	// Duration of each test, whole seconds; 5s where it is empty.
	Duration string `json:"duration,omitempty"`
	// Repeats of each test; 3 where it is zero.
	Repeats int32 `json:"repeats,omitempty"`
	// Scratch volumes in the pod, that of the WAL's StorageClass first; none where
	// NoScratch says why.
	Scratch   []Scratch `json:"scratch,omitempty"`
	NoScratch string    `json:"noScratch,omitempty"`
	// FioResult is the file in which the container of fio leaves what it measured;
	// empty where there is no such container.
	FioResult string `json:"fioResult,omitempty"`
}

// Scratch volume.
type Scratch struct {
	// Layer that a write and its flush on it are.
	Layer string `json:"layer"`
	// StorageClass that it is of.
	StorageClass string `json:"storageClass"`
	// Dir in the pod.
	Dir string `json:"dir"`
}

const (
	defaultLayerDuration = 5 * time.Second
	defaultLayerRepeats  = 3
	// layerScale bounds the scale of the tables that transactions are timed on. They must fit
	// in memory, so that commits are what is timed, and twice in the cluster's volume.
	layerScale = 10
)

func (l *Layers) defaults() {
	if l.Duration == "" {
		l.Duration = defaultLayerDuration.String()
	}
	if l.Repeats < 1 {
		l.Repeats = defaultLayerRepeats
	}
}

func (l *Layers) validate() error {
	errs := []error{wholeSeconds(l.Duration)}
	if duration(l.Duration) < time.Second {
		errs = append(errs, fmt.Errorf("layers: duration %q is less than a second", l.Duration))
	}
	for _, s := range l.Scratch {
		if s.Layer != v1alpha1.LayerVolume && s.Layer != v1alpha1.LayerDataVolume {
			errs = append(errs, fmt.Errorf("layers: %q is not the layer of a volume", s.Layer))
		}
		if !filepath.IsAbs(s.Dir) || filepath.Clean(s.Dir) == "/" {
			errs = append(errs, fmt.Errorf("layers: %q is not a folder of a scratch volume", s.Dir))
		}
	}
	return errors.Join(errs...)
}

// Each is the duration of each test.
func (l *Layers) Each() time.Duration { return duration(l.Duration) }

// Scale of the tables that transactions are timed on for a benchmark's scale.
func (l *Layers) Scale(of int32) int32 { return min(of, layerScale) }

// LayersTime is about how long the layers of a benchmark take, nothing without any. It adds
// each test, the tests of pg_test_fsync before the wanted one, and filling the tables twice.
func LayersTime(l *v1alpha1.BenchmarkLayers) time.Duration {
	if l == nil {
		return 0
	}
	in := Layers{Duration: l.Duration, Repeats: l.Repeats}
	in.defaults()
	return in.Time()
}

// Tests of one repeat: fio on two volumes, pg_test_fsync by four methods at most
// before and with the server's, pgbench on two kinds of tables.
const (
	testsOfRepeat = 2 + 4 + 2
	fillTables    = 30 * time.Second
)

// Time that all of it takes at most, where the storage does not stall.
func (l *Layers) Time() time.Duration {
	return time.Duration(l.Repeats)*testsOfRepeat*l.Each() + fillTables
}
