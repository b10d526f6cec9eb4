// Package plugin runs the commands of the kubectl plugin against a real API server. The
// tests write what controllers, agents and other operators would write.
package plugin

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

const (
	// patience bounds every wait of this suite.
	patience = time.Minute
	interval = 50 * time.Millisecond
)

var config *rest.Config

// asProgram in the environment makes the test's binary the plugin itself, so that real
// processes get real signals.
const asProgram = "PGSTORAGE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
		os.Exit(cli.Main(streams, "v0.1.0", os.Args[1:], nil))
	}
	os.Exit(apiserver.Run(m, &config))
}

// kubeconfig of the API server, as a file.
func kubeconfig(t *testing.T) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	c.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	c.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// plugin runs a command. Its input is empty.
func plugin(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	return pluginWith(t, "", args...)
}

func pluginWith(t *testing.T, input string, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &out}
	c := cli.New(streams, "v0.1.0")
	c.SetArgs(append([]string{"--kubeconfig", kubeconfig(t), "--cache-dir", t.TempDir()}, args...))
	err = c.ExecuteContext(t.Context())
	return out.String(), err
}

// must returns the output of a command that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := plugin(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// namespace creates a namespace with a fixed name, which is in golden files.
func namespace(t *testing.T, c client.Client, name string) {
	t.Helper()
	create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// load creates the objects of a file, with their status. OWNER_UID stands for the UID
// of the object before.
func load(t *testing.T, c client.Client, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	owner := ""
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		o := &unstructured.Unstructured{}
		raw, err := yaml.YAMLToJSONStrict([]byte(strings.ReplaceAll(document, "OWNER_UID", owner)))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		status, has := o.Object["status"]
		create(t, c, o)
		if has {
			o.Object["status"] = status
			if err := c.Status().Update(t.Context(), o); err != nil {
				t.Fatalf("status of %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		}
		if o.GetKind() == "PgStorageCluster" {
			owner = string(o.GetUID())
		}
	}
}

// eventually waits for something to hold.
func eventually(t *testing.T, what string, holds func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		last = holds(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v: %v", what, err, last)
	}
}
