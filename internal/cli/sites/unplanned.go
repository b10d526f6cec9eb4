package sites

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Unplanned is the promotion of a site without a token, as it was read.
type Unplanned struct {
	Site
	Forced
}

// Forced are refusals that do not count.
type Forced struct {
	// EvenIfStreaming promotes the site although it still receives WAL.
	EvenIfStreaming bool
	// EvenIfDemoted promotes the site although a switch demoted it.
	EvenIfDemoted bool
}

// database is the UID of the CloudNativePG Cluster; empty where there is none.
func (s Site) database() string {
	if s.Object.Status.Database == nil {
		return ""
	}
	return s.Object.Status.Database.UID
}

// streaming reports whether every instance receives WAL; nil where that is not known.
func (s Site) streaming() *bool {
	if s.Object.Status.Follower == nil {
		return nil
	}
	return s.Object.Status.Follower.Streaming
}

// Next returns Promote, AwaitPromotion or Done. Refusals say why there is none, and what to
// do.
func (u Unplanned) Next() (Step, []string) {
	if refusals := u.unusable(); len(refusals) > 0 {
		return Promote, refusals
	}
	if u.primary() == u.self() {
		switch {
		case u.writes():
			return Done, nil
		case u.underWay():
			return AwaitPromotion, nil
		}
	}
	return Promote, u.unsafe()
}

// underWay reports whether the operator promotes the site, or has what it needs for that.
// A consent that it used already must not be given again.
func (u Unplanned) underWay() bool {
	consents := u.database() != "" && u.Object.Annotations[naming.AnnotationPromote] == u.database()
	role := u.role()
	return consents || role == v1alpha1.SiteWrites || role == v1alpha1.SitePromoting && !u.unproved()
}

// unsafe says why the site must not be promoted without a token.
func (u Unplanned) unsafe() []string {
	var out []string
	if u.database() == "" {
		out = append(out, fmt.Sprintf("%s has no database yet: its status.database.uid is empty", u.named()))
	}
	if why := u.switched(); why != "" && !u.EvenIfDemoted {
		out = append(out, why+", or --even-if-demoted")
	}
	if now := u.streaming(); now != nil && *now && !u.EvenIfStreaming {
		out = append(out, fmt.Sprintf("%s still receives WAL, so the site that writes is alive; use kubectl pgstorage switch, which loses nothing, or --even-if-streaming", u.named()))
	}
	return out
}

// switched says that a switch demotes the site; empty if none does.
func (u Unplanned) switched() string {
	switch role := u.role(); role {
	case v1alpha1.SiteWrites, v1alpha1.SiteDemoting:
		return fmt.Sprintf("%s is being demoted by a switch (%s); wait until it has stopped writing, and continue the switch or go back with its token", u.named(), role)
	case v1alpha1.SiteDemoted:
		return fmt.Sprintf("%s was demoted by a switch, and its own token promotes it without loss; if no other site has written since, use: %s", u.named(), u.restore())
	}
	return ""
}

// Known is what is known of the loss, and what to do about the site that wrote before.
func (u Unplanned) Known() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Promote %s without a token.\n\n", u.named())
	b.WriteString(view.Columns(
		[]string{"receives WAL", answer(u.streaming())},
		[]string{"lag", u.lag()},
		[]string{v1alpha1.ConditionSiteInRole, u.reported(v1alpha1.ConditionSiteInRole)},
		[]string{v1alpha1.ConditionFollowersCaughtUp, u.reported(v1alpha1.ConditionFollowersCaughtUp)},
	))
	old := "the site that wrote before"
	if u.primary() != u.self() {
		old = "site " + u.primary()
	}
	fmt.Fprintf(&b, `
Commits that %[1]s acknowledged after the last WAL that site %[2]s received are lost.
The lag is of WAL that site %[2]s knows of. It does not count what never arrived.

%[3]s must not write any more. Before you promote site %[2]s, make sure that its
instances are off, or that no client reaches them. If it returns, its operator fences it
once its watcher reaches site %[2]s. What it wrote until then is lost.
Its data has diverged, so it has to be cloned again. This deletes its volumes. LOST is its
kubectl context, so that no command reaches site %[2]s:
`, old, u.self(), strings.ToUpper(old[:1])+old[1:])
	for _, command := range []string{
		fmt.Sprintf(`patch pgsc NAME --type=merge -p '{"spec":{"topology":{"primary":%q}}}'`, u.self()),
		"delete clusters.postgresql.cnpg.io NAME",
		"annotate pgsc NAME " + naming.AnnotationRecreate + "=UID",
	} {
		fmt.Fprintf(&b, "  kubectl --context LOST -n NAMESPACE %s\n", command)
	}
	b.WriteString(`UID is status.database.uid of its PgStorageCluster. Then copy its new Secrets to the other
sites, and set the same primary in every further site.
`)
	return b.String()
}

// lag as the operator reports it, in powers of two.
func (u Unplanned) lag() string {
	f := u.Object.Status.Follower
	if f == nil || f.Lag == nil {
		return "unknown"
	}
	var out []string
	if n := f.Lag.Bytes; n != nil {
		out = append(out, "at most "+resource.NewQuantity(*n, resource.BinarySI).String()+" of WAL that was not replayed")
	}
	if n := f.Lag.Seconds; n != nil {
		out = append(out, fmt.Sprintf("last replayed commit at most %d seconds old", *n))
	}
	return view.Or(strings.Join(out, ", "))
}

func (u Unplanned) reported(condition string) string {
	c := u.condition(condition)
	if c == nil {
		return describe(c)
	}
	return string(c.Status) + ", " + describe(c)
}

func answer(yes *bool) string {
	switch {
	case yes == nil:
		return "unknown"
	case *yes:
		return "yes"
	}
	return "no"
}
