package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbom prints the contents of one platform's image. It reads them from the programs, in which
// Go's linker writes the version and the checksum of each module that it linked.
func sbom(args []string) error {
	version, folder := args[0], args[1]
	created, err := when()
	if err != nil {
		return err
	}
	modules, programs := map[string]cyclonedx.Component{}, []cyclonedx.Component{}
	for _, program := range programNames(folder) {
		info, err := buildinfo.ReadFile(filepath.Join(folder, program))
		if err != nil {
			return fmt.Errorf("read the modules of %s: %w", program, err)
		}
		programs = append(programs, cyclonedx.Component{
			BOMRef: "program:" + program, Type: cyclonedx.ComponentTypeApplication, Name: program, Version: version,
			Properties: &[]cyclonedx.Property{{Name: "pgstorage:package", Value: info.Path}},
		})
		add(modules, "std", strings.TrimPrefix(info.GoVersion, "go"), "")
		for _, m := range info.Deps {
			m = replaced(m)
			add(modules, m.Path, m.Version, m.Sum)
		}
	}
	components := append(programs, slices.SortedFunc(maps.Values(modules), func(a, b cyclonedx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })...)
	platform := filepath.Base(folder)
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: created.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "image", Type: cyclonedx.ComponentTypeContainer, Name: "pgstorage", Version: version,
			Properties: &[]cyclonedx.Property{{Name: "pgstorage:platform", Value: strings.Replace(platform, "_", "/", 1)}},
		},
	}
	bom.Components = &components
	encoder := cyclonedx.NewBOMEncoder(os.Stdout, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	return encoder.Encode(bom)
}

func replaced(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// add a module by its package URL. The checksum is that of go.sum, which hashes the files of
// the module and is therefore no hash of one file.
func add(modules map[string]cyclonedx.Component, path, version, sum string) {
	url := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "pgstorage:go.sum", Value: sum}}
	}
	modules[url] = c
}
