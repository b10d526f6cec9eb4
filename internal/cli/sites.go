package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/sites"
)

// pauseOfSites is how long a switch waits before it reads the objects again. Writes are
// paused meanwhile.
const pauseOfSites = 500 * time.Millisecond

// runOptions are the flags of commands that change sites.
type runOptions struct {
	apply   bool
	timeout time.Duration
}

func (o *runOptions) flags(f *pflag.FlagSet, apply string) {
	f.BoolVar(&o.apply, "apply", false, apply)
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "maximum time of each step that waits")
}

func (o *runOptions) validate() error {
	if o.timeout <= 0 {
		return errors.New("--timeout must be more than 0, such as 10m")
	}
	return nil
}

// siteRunner waits with the clock of the program.
func (a *app) siteRunner(o *runOptions) sites.Runner {
	return sites.Runner{Timeout: o.timeout, Now: a.clock.Now, Pause: pause, Out: a.streams.Out, ErrOut: a.streams.ErrOut}
}

// outlive keeps the program running when the reader of its output or its terminal ends. Writes
// are paused until a switch has promoted the other site.
func outlive() { signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) }

// refused maps a run that has printed its refusals to the exit code.
func refused(err error) error {
	if errors.Is(err, sites.ErrRefused) {
		return ErrFindings
	}
	return err
}

// pause waits a moment, and returns an error if the command ends meanwhile.
func pause(ctx context.Context) error {
	timer := time.NewTimer(pauseOfSites)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// siteAccess reads and patches one PgStorageCluster.
type siteAccess struct {
	client client.Client
	key    client.ObjectKey
}

func (s siteAccess) Get(ctx context.Context) (*v1alpha1.PgStorageCluster, error) {
	o := &v1alpha1.PgStorageCluster{}
	return o, s.client.Get(ctx, s.key, o)
}

func (s siteAccess) Patch(ctx context.Context, patch []byte) error {
	o := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	return s.client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
}

// site connects to a PgStorageCluster. An empty context is the current one.
func (a *app) site(place sites.Place) (sites.Target, error) {
	c, err := a.in(place.Context).client()
	if err != nil {
		return sites.Target{}, err
	}
	return sites.Target{Place: place, Access: siteAccess{client: c, key: client.ObjectKey{Namespace: place.Namespace, Name: place.Name}}}, nil
}

// in returns the commands' state for another context of the kubeconfig. Flags that replace
// parts of a context, such as --server and --token, are of the current one only.
func (a *app) in(kubeContext string) *app {
	if kubeContext == "" || kubeContext == a.currentContext() {
		return a
	}
	config := genericclioptions.NewConfigFlags(true).WithWarningPrinter(a.streams)
	config.KubeConfig, config.CacheDir, config.Timeout = a.config.KubeConfig, a.config.CacheDir, a.config.Timeout
	config.Impersonate, config.ImpersonateUID = a.config.Impersonate, a.config.ImpersonateUID
	config.ImpersonateGroup, config.ImpersonateUserExtra = a.config.ImpersonateGroup, a.config.ImpersonateUserExtra
	config.Context = &kubeContext
	return &app{streams: a.streams, config: config, version: a.version, clock: a.clock}
}

// currentContext of the flags or the kubeconfig; empty without one.
func (a *app) currentContext() string {
	if name := a.config.Context; name != nil && *name != "" {
		return *name
	}
	raw, err := a.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}

// placeOf reads CONTEXT/NAMESPACE/NAME. The name of a context can have slashes, and an empty
// one is the current context.
func placeOf(text string) (sites.Place, error) {
	parts := strings.Split(text, "/")
	if n := len(parts); n > 2 && parts[n-1] != "" && parts[n-2] != "" {
		return sites.Place{Context: strings.Join(parts[:n-2], "/"), Namespace: parts[n-2], Name: parts[n-1]}, nil
	}
	return sites.Place{}, fmt.Errorf("--also %q is not CONTEXT/NAMESPACE/NAME; an empty CONTEXT is the current one", text)
}

// completeContexts completes a flag with the contexts of the kubeconfig.
func (a *app) completeContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	raw, err := a.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), cobra.ShellCompDirectiveNoFileComp
}
