package zfs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Kind of a dataset.
type Kind string

// Kinds.
const (
	Filesystem Kind = "filesystem"
	Volume     Kind = "volume"
)

// Dataset is a filesystem or volume.
type Dataset struct {
	Name string
	Kind Kind
	// Properties of readProperties that this kind has, by name.
	Properties map[string]Property
}

// Bytes of a property such as used, or 0 where the dataset has it not.
func (d Dataset) Bytes(property string) uint64 {
	n, _ := d.Properties[property].Number()
	return n
}

// measured are the properties that are read besides those of the property table. Each
// is in every release since 0.8: one that a release does not know fails the command.
var measured = []string{
	"type", "used", "available", "referenced", "logicalused", "compressratio",
	"usedbysnapshots", "usedbydataset", "usedbychildren", "usedbyrefreservation",
	"creation", "guid", "mounted",
}

func readProperties() string {
	names := append([]string(nil), measured...)
	for _, p := range properties {
		names = append(names, p.Name)
	}
	return strings.Join(names, ",")
}

// pageOf is how many datasets one command reads where all at once are too much. With the
// longest names that ZFS allows, and every property, they are below host.DefaultMaxOutput.
const pageOf = 256

// relists of datasets, at most, where one is destroyed between its listing and its page.
const relists = 3

// Datasets are all filesystems and volumes of an imported pool, or a dataset and all below it,
// parents first. One command reads them, or one for each page where the output exceeds the
// Runner's limit.
func (c *Client) Datasets(ctx context.Context, root string) ([]Dataset, error) {
	if err := ValidDatasetName(root); err != nil {
		return nil, err
	}
	out, err := c.read(ctx, "zfs", "get", "-Hp", "-r", "-t", "filesystem,volume",
		"-o", "name,property,value,source", readProperties(), root)
	if errors.Is(err, host.ErrTooMuchOutput) {
		return c.pagedDatasets(ctx, root)
	}
	if err != nil {
		return nil, err
	}
	return parseDatasets(out)
}

func (c *Client) pagedDatasets(ctx context.Context, root string) ([]Dataset, error) {
	var err error
	for range relists {
		var all []Dataset
		if all, err = c.pages(ctx, root); !errors.Is(err, ErrNoSuchDataset) {
			return all, err
		}
	}
	return nil, err
}

func (c *Client) pages(ctx context.Context, root string) ([]Dataset, error) {
	out, err := c.read(ctx, "zfs", "list", "-H", "-r", "-t", "filesystem,volume", "-o", "name", root)
	if err != nil {
		return nil, err
	}
	var all []Dataset
	for names := range slices.Chunk(strings.Fields(out), pageOf) {
		for _, name := range names {
			if err := ValidDatasetName(name); err != nil {
				return nil, fmt.Errorf("%w: zfs list: %q", ErrFormat, name)
			}
		}
		args := []string{"get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value,source", readProperties()}
		out, err := c.read(ctx, "zfs", append(args, names...)...)
		if err != nil {
			return nil, err
		}
		page, err := parseDatasets(out)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
	}
	return all, nil
}

// Dataset by its name alone.
func (c *Client) Dataset(ctx context.Context, name string) (Dataset, error) {
	if err := ValidDatasetName(name); err != nil {
		return Dataset{}, err
	}
	out, err := c.read(ctx, "zfs", "get", "-Hp", "-t", "filesystem,volume",
		"-o", "name,property,value,source", readProperties(), name)
	if err != nil {
		return Dataset{}, err
	}
	found, err := parseDatasets(out)
	if err != nil {
		return Dataset{}, err
	}
	if len(found) != 1 {
		return Dataset{}, fmt.Errorf("%w: zfs get %s: %d datasets", ErrFormat, name, len(found))
	}
	return found[0], nil
}

// parseDatasets of lines of name, property, value and source, one dataset after the
// other.
func parseDatasets(out string) ([]Dataset, error) {
	var all []Dataset
	at := map[string]int{}
	known := words{}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, "\t")
		property, value, err := parseProperty(rest)
		if err != nil || name == "" {
			return nil, fmt.Errorf("zfs get: %w: %q", ErrFormat, line)
		}
		i, ok := at[name]
		if !ok {
			name = strings.Clone(name)
			i = len(all)
			at[name] = i
			all = append(all, Dataset{Name: name, Properties: map[string]Property{}})
		}
		if property == "type" {
			all[i].Kind = Kind(known.of(value.Value))
		}
		// A property that the dataset's kind has not is printed as "-" from "-".
		if value != (Property{Value: "-", Source: "-"}) {
			all[i].Properties[known.of(property)] = Property{Value: known.of(value.Value), Source: known.of(value.Source)}
		}
	}
	return all, kindsKnown(all)
}

// words that an output repeats, each kept once and apart from it. The output of thousands of
// datasets is many times as large as what is kept of it.
type words map[string]string

func (w words) of(text string) string {
	if kept, ok := w[text]; ok {
		return kept
	}
	kept := strings.Clone(text)
	w[kept] = kept
	return kept
}

func kindsKnown(all []Dataset) error {
	for _, d := range all {
		if d.Kind != Filesystem && d.Kind != Volume {
			return fmt.Errorf("%w: zfs get: %s is of type %q", ErrFormat, d.Name, d.Kind)
		}
	}
	return nil
}
