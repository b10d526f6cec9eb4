package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/adopt"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/adoption"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// adoptOptions are the flags of adopt.
type adoptOptions struct {
	all, apply   bool
	storageClass string
	format       string
	repository   string
}

func (a *app) adopt() *cobra.Command {
	o := &adoptOptions{}
	c := adoptHelp.command()
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case o.all == (len(args) == 1):
			return errors.New("name one CloudNativePG Cluster, or use --all for those of the namespace")
		case o.format != "" && o.format != "yaml":
			return fmt.Errorf("--output: unknown format %q; use yaml, or omit it for text", o.format)
		case o.format != "" && o.apply:
			return errors.New("--output prints objects that are not created; use it without --apply")
		}
		return a.runAdopt(c.Context(), o, args)
	}
	f := c.Flags()
	f.BoolVar(&o.all, "all", false, "all CloudNativePG Clusters of the namespace, as a table")
	f.BoolVar(&o.apply, "apply", false, "create the objects, and let them adopt the Clusters whose spec does not change")
	f.StringVar(&o.storageClass, "storage-class", "", "StorageClass of the volumes of a Cluster that names none, where it cannot be read")
	f.StringVar(&o.repository, "postgres-image-repository", defaultRepository, "repository of Postgres images, as in the same flag of the manager")
	f.StringVarP(&o.format, "output", "o", "", "yaml: the objects to create, instead of text")
	complete(c, "output", "yaml")
	return c
}

func (a *app) runAdopt(ctx context.Context, o *adoptOptions, args []string) error {
	c, namespace, err := a.connect()
	if err != nil {
		return err
	}
	candidates, err := a.candidates(ctx, gather.Reader{Reader: c}, o, namespace, args)
	if err != nil {
		return err
	}
	profiles, err := adoptEach(ctx, c, candidates, o.apply)
	// After an error the output says what was done before.
	if shown := a.showAdoption(o, candidates, profiles); err == nil {
		err = shown
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(candidates, func(c *adopt.Candidate) bool { return remains(c, o.apply) }) {
		return ErrFindings
	}
	return nil
}

// adoptEach compares every candidate with a dry run, and takes over those whose spec does not
// change if apply is set. It returns the profiles that it created, also with an error, or
// those that it would create.
func adoptEach(ctx context.Context, c client.Client, candidates []*adopt.Candidate, apply bool) ([]*v1alpha1.PgStorageProfile, error) {
	for _, candidate := range candidates {
		dryRun(ctx, c, candidate)
	}
	if !apply {
		return adopt.NewProfiles(candidates, (*adopt.Candidate).IsUnchanged), nil
	}
	// Every candidate is read before profiles are created, because each profile consents
	// to what the adopted Clusters need.
	if err := eachUnchanged(candidates, func(candidate *adopt.Candidate) error { return readAgain(ctx, c, candidate) }); err != nil {
		return nil, err
	}
	created, err := createProfiles(ctx, c, candidates)
	if err != nil {
		return created, err
	}
	return created, eachUnchanged(candidates, func(candidate *adopt.Candidate) error { return take(ctx, c, candidate) })
}

func eachUnchanged(candidates []*adopt.Candidate, do func(*adopt.Candidate) error) error {
	for _, candidate := range candidates {
		if !candidate.IsUnchanged() {
			continue
		}
		if err := do(candidate); err != nil {
			candidate.Fail(err)
			return err
		}
	}
	return nil
}

// remains reports whether a candidate is not, or could not be, adopted as it is.
func remains(c *adopt.Candidate, apply bool) bool {
	return c.Outcome == adopt.Refused || c.Outcome == adopt.Unknown || apply && c.Outcome == adopt.Changed
}

// candidates reads the Clusters and plans their adoption.
func (a *app) candidates(ctx context.Context, r gather.Reader, o *adoptOptions, namespace string, args []string) ([]*adopt.Candidate, error) {
	seen, err := cnpgClusters(ctx, r, o, namespace, args)
	if err != nil {
		return nil, err
	}
	in := adopt.Inputs{Config: clusters.Config{ImageRepository: o.repository}}
	if in.Schemas, err = admit.Load(crd.Bases); err != nil {
		return nil, err
	}
	var unread []snapshot.Unread
	if in.Profiles, in.Clusters, unread, err = r.Profiles(ctx, namespace); err != nil {
		return nil, err
	}
	var live []unstructured.Unstructured
	classes := map[string]adoption.Classes{}
	for _, s := range seen {
		live = append(live, *s.Cluster)
		unread = append(unread, s.Unread...)
		known := s.Known
		if o.storageClass != "" {
			known = adoption.Classes{Data: o.storageClass, WAL: o.storageClass}
		}
		classes[s.Cluster.GetName()] = known
	}
	for _, u := range unread {
		_, _ = fmt.Fprintf(a.streams.ErrOut, "Warning: %s: %s\n", view.Clean(u.What), view.Clean(u.Why))
	}
	return adopt.Candidates(ctx, in, live, classes)
}

func cnpgClusters(ctx context.Context, r gather.Reader, o *adoptOptions, namespace string, args []string) ([]snapshot.CNPGCluster, error) {
	if o.all {
		return r.CNPGClusters(ctx, namespace)
	}
	one, err := r.CNPGCluster(ctx, client.ObjectKey{Namespace: namespace, Name: args[0]})
	return []snapshot.CNPGCluster{one}, err
}

// dryRun asks the API server what the operator's own plan makes of a Cluster.
func dryRun(ctx context.Context, c client.Client, candidate *adopt.Candidate) {
	if candidate.Planned == nil || candidate.Outcome != "" {
		return
	}
	answer := candidate.Planned.DeepCopy()
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(answer), client.FieldOwner(naming.FieldOwner), client.ForceOwnership, client.DryRunAll)
	candidate.Answer(answer, err)
}

// readAgain notes whether a Cluster changed after the dry run.
func readAgain(ctx context.Context, c client.Client, candidate *adopt.Candidate) error {
	live := candidate.Live.DeepCopy()
	err := c.Get(ctx, client.ObjectKeyFromObject(live), live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read CloudNativePG Cluster %s again: %w", live.GetName(), err)
	}
	if err != nil || !isSame(live, candidate.Live) {
		candidate.Outcome, candidate.Problem = adopt.Unknown, "the Cluster changed after the dry run; run the command again"
	}
	return nil
}

// isSame says that a Cluster has the spec of before.
func isSame(live, before *unstructured.Unstructured) bool {
	return live.GetGeneration() == before.GetGeneration() && live.GetUID() == before.GetUID()
}

// createProfiles creates the profiles of the candidates whose spec does not change, and
// returns those that it created, also with an error.
func createProfiles(ctx context.Context, c client.Client, candidates []*adopt.Candidate) ([]*v1alpha1.PgStorageProfile, error) {
	var created []*v1alpha1.PgStorageProfile
	for _, p := range adopt.NewProfiles(candidates, (*adopt.Candidate).IsUnchanged) {
		err := c.Create(ctx, p.DeepCopy())
		switch {
		case err == nil:
			created = append(created, p)
		case apierrors.IsAlreadyExists(err):
			err = useExisting(ctx, c, p.Name, candidates)
		default:
			err = fmt.Errorf("create PgStorageProfile %s: %w", p.Name, err)
		}
		if err != nil {
			eachOn(candidates, p.Name, func(candidate *adopt.Candidate) { candidate.Fail(err) })
			return created, err
		}
	}
	return created, nil
}

// useExisting reads a profile that appeared since the command listed them. It gives it to the
// candidates that planned a new one of its name, if it fits.
func useExisting(ctx context.Context, c client.Client, name string, candidates []*adopt.Candidate) error {
	existing := &v1alpha1.PgStorageProfile{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, existing); err != nil {
		return fmt.Errorf("read PgStorageProfile %s, which exists: %w", name, err)
	}
	eachOn(candidates, name, func(candidate *adopt.Candidate) { candidate.Use(existing) })
	return nil
}

// eachOn calls do for each candidate that is to be adopted on a new profile of a name.
func eachOn(candidates []*adopt.Candidate, name string, do func(*adopt.Candidate)) {
	for _, candidate := range candidates {
		if candidate.IsUnchanged() && candidate.NewProfile && candidate.Profile.Name == name {
			do(candidate)
		}
	}
}

// take creates the PgStorageCluster of a candidate whose spec does not change, and then
// consents to the adoption.
func take(ctx context.Context, c client.Client, candidate *adopt.Candidate) error {
	if err := c.Create(ctx, candidate.Cluster.DeepCopy()); err != nil {
		return fmt.Errorf("create PgStorageCluster %s: %w", candidate.Cluster.Name, err)
	}
	if err := consent(ctx, c, candidate); err != nil {
		return fmt.Errorf("%w; delete PgStorageCluster %s, which exists now, and run the command again", err, candidate.Cluster.Name)
	}
	return nil
}

// attempts to write an annotation while another writer changes the same object.
const attempts = 10

// consent annotates a Cluster, whose status may change meanwhile and its spec may not.
func consent(ctx context.Context, c client.Client, candidate *adopt.Candidate) error {
	for range attempts {
		live := candidate.Live.DeepCopy()
		if err := c.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
			return fmt.Errorf("read CloudNativePG Cluster %s again: %w", live.GetName(), err)
		}
		if !isSame(live, candidate.Live) {
			break
		}
		before := live.DeepCopy()
		annotations := live.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[naming.AnnotationAdopt] = candidate.Cluster.Name
		live.SetAnnotations(annotations)
		err := c.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if err == nil {
			candidate.Outcome = adopt.Adopted
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("annotate CloudNativePG Cluster %s: %w", live.GetName(), err)
		}
	}
	candidate.Outcome, candidate.Problem = adopt.Unknown, "the Cluster changed meanwhile and was not annotated; run the command again after you delete PgStorageCluster "+candidate.Cluster.Name
	return nil
}

// showAdoption prints objects, a table, or one Cluster.
func (a *app) showAdoption(o *adoptOptions, candidates []*adopt.Candidate, profiles []*v1alpha1.PgStorageProfile) error {
	text := ""
	switch {
	case o.format == "yaml":
		var err error
		if text, err = adopt.YAML(candidates); err != nil {
			return err
		}
	case o.all:
		text = adopt.Table(candidates, profiles)
	default:
		text = candidates[0].Text(a.style(), profiles)
	}
	_, err := fmt.Fprint(a.streams.Out, text)
	return err
}
