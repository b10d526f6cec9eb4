package zfs

import (
	"context"
	"fmt"
	"strings"
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

// Datasets are all filesystems and volumes of an imported pool, or beneath and with a
// dataset, parents first, by one command.
func (c *Client) Datasets(ctx context.Context, root string) ([]Dataset, error) {
	if err := ValidDatasetName(root); err != nil {
		return nil, err
	}
	out, err := c.read(ctx, "zfs", "get", "-Hp", "-r", "-t", "filesystem,volume",
		"-o", "name,property,value,source", readProperties(), root)
	if err != nil {
		return nil, err
	}
	return parseDatasets(out)
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
			i = len(all)
			at[name] = i
			all = append(all, Dataset{Name: name, Properties: map[string]Property{}})
		}
		if property == "type" {
			all[i].Kind = Kind(value.Value)
		}
		// A property that the dataset's kind has not is printed as "-" from "-".
		if value != (Property{Value: "-", Source: "-"}) {
			all[i].Properties[property] = value
		}
	}
	return all, kindsKnown(all)
}

func kindsKnown(all []Dataset) error {
	for _, d := range all {
		if d.Kind != Filesystem && d.Kind != Volume {
			return fmt.Errorf("%w: zfs get: %s is of type %q", ErrFormat, d.Name, d.Kind)
		}
	}
	return nil
}
