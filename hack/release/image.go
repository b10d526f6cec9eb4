package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user of the image: no name, because the image has no /etc/passwd.
const user = "65532:65532"

// image writes an OCI layout with one index of an image for each folder OS_ARCH of programs.
// The same programs give the same digest.
func image(args []string) error {
	version, programs, target := args[0], args[1], args[2]
	created, err := when()
	if err != nil {
		return err
	}
	folders, err := filepath.Glob(filepath.Join(programs, "*_*"))
	if err != nil || len(folders) == 0 {
		return fmt.Errorf("%s has no folder of a platform, as linux_amd64: %w", programs, err)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	index = mutate.Annotations(index, labels(version)).(v1.ImageIndex)
	for _, folder := range folders {
		added, err := platformImage(version, folder, created)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, added)
	}
	path, err := layout.Write(target, empty.Index)
	if err != nil {
		return fmt.Errorf("write the layout: %w", err)
	}
	if err := path.AppendIndex(index); err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	return printDigest([]string{target})
}

func labels(version string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "pgstorage",
		"org.opencontainers.image.description": "Postgres on CloudNativePG with storage that fits it",
		"org.opencontainers.image.source":      source,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     version,
	}
}

// platformImage holds the programs of one folder in its / and nothing else.
func platformImage(version, folder string, created time.Time) (mutate.IndexAddendum, error) {
	system, arch, _ := strings.Cut(filepath.Base(folder), "_")
	platform := v1.Platform{OS: system, Architecture: arch}
	layer, err := programLayer(folder, created)
	if err != nil {
		return mutate.IndexAddendum{}, err
	}
	built, err := mutate.Append(mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1), mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "hack/release.sh", Comment: strings.Join(programNames(folder), " ")},
	})
	if err != nil {
		return mutate.IndexAddendum{}, fmt.Errorf("append the layer: %w", err)
	}
	file, err := built.ConfigFile()
	if err != nil {
		return mutate.IndexAddendum{}, fmt.Errorf("read the configuration: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = system, arch, v1.Time{Time: created}
	file.Config = v1.Config{User: user, Entrypoint: []string{"/manager"}, Labels: labels(version), WorkingDir: "/"}
	built, err = mutate.ConfigFile(built, file)
	return mutate.IndexAddendum{Add: built, Descriptor: v1.Descriptor{Platform: &platform}}, err
}

func programNames(folder string) []string {
	entries, _ := os.ReadDir(folder) // programLayer reports what cannot be read
	var names []string
	for _, e := range entries {
		names = append(names, "/"+e.Name())
	}
	return slices.Sorted(slices.Values(names))
}

// programLayer is a tar of the programs, owned by root, as old as the commit.
func programLayer(folder string, created time.Time) (v1.Layer, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, program := range programNames(folder) {
		content, err := os.ReadFile(filepath.Join(folder, program))
		if err != nil {
			return nil, fmt.Errorf("read the program: %w", err)
		}
		header := &tar.Header{Name: strings.TrimPrefix(program, "/"), Mode: 0o555, Size: int64(len(content)), ModTime: created, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("archive %s: %w", program, err)
		}
		if _, err := archive.Write(content); err != nil {
			return nil, fmt.Errorf("archive %s: %w", program, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("archive %s: %w", folder, err)
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// built returns the one index of a layout, and its descriptor.
func built(folder string) (v1.ImageIndex, v1.Descriptor, error) {
	all, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, v1.Descriptor{}, fmt.Errorf("read the layout %s: %w", folder, err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, v1.Descriptor{}, fmt.Errorf("read the layout %s: %w", folder, err)
	}
	if len(manifest.Manifests) != 1 {
		return nil, v1.Descriptor{}, fmt.Errorf("%s has %d manifests instead of one index", folder, len(manifest.Manifests))
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	return index, manifest.Manifests[0], err
}

// printDigest of the index, or of the image for one platform, as linux_amd64.
func printDigest(args []string) error {
	index, descriptor, err := built(args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		fmt.Println(descriptor.Digest)
		return nil
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform != nil && m.Platform.OS+"_"+m.Platform.Architecture == args[1] {
			fmt.Println(m.Digest)
			return nil
		}
	}
	return fmt.Errorf("the index has no image for %s", args[1])
}

// push writes a layout's index to a registry, with the credentials of docker login or
// helm registry login.
func push(args []string) error {
	index, descriptor, err := built(args[0])
	if err != nil {
		return err
	}
	reference, err := name.ParseReference(args[1])
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	if err := remote.WriteIndex(reference, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	fmt.Println(descriptor.Digest)
	return nil
}

// load pushes the one image of an archive that docker save wrote.
func load(args []string) error {
	reference, err := name.ParseReference(args[1])
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	saved, err := tarball.ImageFromPath(args[0], nil)
	if err != nil {
		return fmt.Errorf("load %s: %w", args[0], err)
	}
	if err := remote.Write(reference, saved, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("load %s: %w", reference, err)
	}
	return nil
}
