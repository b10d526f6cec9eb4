//go:build release

package release_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The parts of OCI's formats that the tests read, apart from the library that wrote them.
type (
	descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Platform  struct {
			OS           string `json:"os"`
			Architecture string `json:"architecture"`
		} `json:"platform"`
	}
	manifest struct {
		MediaType string       `json:"mediaType"`
		Manifests []descriptor `json:"manifests"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}
	configuration struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Config       struct {
			User       string
			Entrypoint []string
			Labels     map[string]string
		} `json:"config"`
	}
)

// get a path of the stand-in's registry, by the name of the registry.
func get(t *testing.T, path string) []byte {
	t.Helper()
	env := map[string]string{}
	for _, v := range release.env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	proxy, err := url.Parse(env["HTTPS_PROXY"])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(readFile(t, env["SSL_CERT_FILE"])))
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://ghcr.io/v2/pgstorage/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, */*")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", path, response.Status, err, body)
	}
	return body
}

func getJSON[T any](t *testing.T, path string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(get(t, path), &out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// imageDigest of the index that the tag leads to.
func imageDigest(t *testing.T) string {
	t.Helper()
	return digest(get(t, "pgstorage/manifests/"+version))
}

// platforms of the image, with the manifest of each.
func platforms(t *testing.T) map[string]descriptor {
	t.Helper()
	out := map[string]descriptor{}
	for _, m := range getJSON[manifest](t, "pgstorage/manifests/"+version).Manifests {
		out[m.Platform.OS+"/"+m.Platform.Architecture] = m
	}
	return out
}

var machines = map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64}

func TestImageHasBothPlatforms(t *testing.T) {
	found := platforms(t)
	if len(found) != len(machines) {
		t.Fatalf("got platforms %v, want those of %v", found, machines)
	}
	for platform, machine := range machines {
		m := getJSON[manifest](t, "pgstorage/manifests/"+found[platform].Digest)
		c := getJSON[configuration](t, "pgstorage/blobs/"+m.Config.Digest)
		if c.OS+"/"+c.Architecture != platform {
			t.Errorf("%s: the configuration says %s/%s", platform, c.OS, c.Architecture)
		}
		if c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/manager"}) {
			t.Errorf("%s: user %q, entry point %q", platform, c.Config.User, c.Config.Entrypoint)
		}
		for label, want := range map[string]string{"version": version, "source": "https://github.com/pgstorage/pgstorage", "licenses": "Apache-2.0", "title": "pgstorage"} {
			if got := c.Config.Labels["org.opencontainers.image."+label]; got != want {
				t.Errorf("%s: label %s is %q, want %q", platform, label, got, want)
			}
		}
		if len(m.Layers) != 1 {
			t.Fatalf("%s: %d layers", platform, len(m.Layers))
		}
		checkPrograms(t, platform, machine, unpack(t, get(t, "pgstorage/blobs/"+m.Layers[0].Digest)))
	}
}

// unpack a layer into a folder, which it returns. Each file belongs to root.
func unpack(t *testing.T, layer []byte) string {
	t.Helper()
	folder := t.TempDir()
	zipped, err := gzip.NewReader(strings.NewReader(string(layer)))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return folder
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Mode != 0o555 || strings.Contains(header.Name, "/") {
			t.Errorf("%s: owner %d:%d, mode %o", header.Name, header.Uid, header.Gid, header.Mode)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, header.Name), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPrograms of a platform: each is of its machine, static, and those of this machine report
// the version.
func checkPrograms(t *testing.T, platform string, machine elf.Machine, folder string) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
		path := filepath.Join(folder, entry.Name())
		file, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if libraries, _ := file.ImportedLibraries(); file.Machine != machine || len(libraries) > 0 {
			t.Errorf("%s of %s: machine %s, libraries %q", entry.Name(), platform, file.Machine, libraries)
		}
		_ = file.Close()
		if platform == "linux/"+runtime.GOARCH {
			checkVersion(t, path)
		}
		checkReproducible(t, platform, path)
	}
	if want := []string{"agent", "bench", "manager", "site"}; !slices.Equal(names, want) {
		t.Errorf("%s has the programs %q, want %q", platform, names, want)
	}
}

func checkVersion(t *testing.T, program string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, versionArguments[filepath.Base(program)]...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), version) {
		t.Errorf("%s: %v, %q; want %s", filepath.Base(program), err, out, version)
	}
}

var versionArguments = map[string][]string{"manager": {"--version"}, "agent": {"--version"}, "bench": {"version"}, "site": {"--version"}}
