package preflight

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// DefaultPatience with a store that does not answer.
	DefaultPatience = 30 * time.Second
	// between two tries of a store that does not answer.
	pause = 2 * time.Second
	// maxPages of a listing, of 1000 names each: ZeroFS has some ten names there.
	maxPages = 5
	// shown names of foreign data in a message.
	shown = 3
)

// Options of a preflight.
type Options struct {
	// URL is s3://bucket/prefix.
	URL string
	// Endpoint is scheme and host. Empty: Amazon S3 in Region.
	Endpoint, Region string
	// PathStyle puts the bucket into the path of requests.
	PathStyle                    bool
	AccessKeyID, SecretAccessKey string
	// Password is looked at only for what ZeroFS refuses without the data; nil: it is
	// not.
	Password *string
	// Patience with a store that does not answer, or answers that it cannot.
	Patience time.Duration
	Log      *slog.Logger
}

// Check the store. A *zerofs.Failure says what is wrong with it, without secrets;
// any other error is a wrong call. It ends within Patience and some ten requests of
// 10 seconds each, or with ctx.
func Check(ctx context.Context, o Options) error {
	s, err := newStore(o)
	if err != nil {
		return err
	}
	if f := password(o.Password); f != nil {
		return f
	}
	if o.AccessKeyID == "" || o.SecretAccessKey == "" {
		return failed(zerofs.ReasonCredentialsRejected, "%s or %s is empty in the Secret", zerofs.EnvAccessKeyID, zerofs.EnvSecretAccessKey)
	}
	first, err := s.reach(ctx, o)
	if err != nil {
		return err
	}
	if f := s.verdict("list objects", first); f != nil {
		return f
	}
	o.Log.Info("the store answers, and accepts credentials and clock", "bucket", s.bucket, "skew", first.skew.Round(time.Second).String())
	empty, err := s.ours(ctx, first)
	if err != nil {
		return err
	}
	o.Log.Info("the prefix can be used", "prefix", s.prefix, "empty", empty)
	if err := s.conditionalPut(ctx); err != nil {
		return err
	}
	o.Log.Info("the store refuses to write over what is there, as ZeroFS needs it")
	return nil
}

// password that ZeroFS refuses (validate_password in cli/password.rs), which it does
// only after it has written to the prefix.
func password(p *string) *zerofs.Failure {
	const least = 8
	switch {
	case p == nil:
		return nil
	case len(*p) < least:
		return failed(zerofs.ReasonPasswordInvalid, "the password has fewer than %d bytes, which ZeroFS refuses", least)
	case *p == "CHANGEME":
		return failed(zerofs.ReasonPasswordInvalid, "the password is the word that ZeroFS refuses as its example; choose another")
	}
	return nil
}

// reach the store: the first answer that is not its own trouble.
func (s *store) reach(ctx context.Context, o Options) (*answer, error) {
	var got *answer
	var last string
	err := wait.PollUntilContextTimeout(ctx, pause, o.Patience, true, func(ctx context.Context) (bool, error) {
		a, err := s.list(ctx, "")
		switch {
		case errors.Is(err, errNoAnswer):
			if !errors.Is(err, context.DeadlineExceeded) || last == "" {
				last = plainCause(err)
			}
		case err != nil:
			return false, err
		case a.status >= http.StatusInternalServerError && a.status != http.StatusNotImplemented:
			last = describe(a)
		default:
			got = a
			return true, nil
		}
		o.Log.Info("the store does not answer", "endpoint", s.base, "error", last)
		return false, nil
	})
	if wait.Interrupted(err) {
		return nil, failed(zerofs.ReasonEndpointUnreachable, "%s gave no answer within %s: %s", s.base, o.Patience, last)
	}
	return got, err
}

// ours says whether the prefix is empty; it fails if there is something that is not
// of ZeroFS.
func (s *store) ours(ctx context.Context, page *answer) (empty bool, err error) {
	var all []string
	for range maxPages {
		names, next, err := s.names(page)
		if err != nil {
			return false, failed(zerofs.ReasonEndpointUnreachable, "%s does not answer as an S3 store: %v", s.base, err)
		}
		all = append(all, names...)
		if next == "" {
			break
		}
		if page, err = s.list(ctx, next); err != nil {
			return false, s.lost(err)
		}
		if f := s.verdict("list objects", page); f != nil {
			return false, f
		}
	}
	others := foreign(all)
	if len(others) == 0 {
		return len(all) == 0, nil
	}
	more := ""
	if len(others) > shown {
		more = fmt.Sprintf(" and %d more", len(others)-shown)
		others = others[:shown]
	}
	return false, failed(zerofs.ReasonPrefixNotEmpty,
		"s3://%s/%s holds what ZeroFS did not write: %q%s; nothing was touched; choose another prefix", s.bucket, s.prefix, others, more)
}

// conditionalPut proves that the store can refuse to overwrite an object. That keeps a
// second writer of the prefix out.
func (s *store) conditionalPut(ctx context.Context) (err error) {
	key := s.prefix + "/" + probePrefix + string(uuid.NewUUID())
	once := http.Header{"If-None-Match": {"*"}}
	first, err := s.ask(ctx, http.MethodPut, key, nil, "probe", once)
	if err != nil {
		return s.lost(err)
	}
	if first.status == http.StatusNotImplemented || first.code == "NotImplemented" {
		return unsupported(first)
	}
	if f := s.verdict("write objects", first); f != nil {
		return f
	}
	second, secondErr := s.ask(ctx, http.MethodPut, key, nil, "second", once)
	// The probe goes also where the second write failed.
	removed, err := s.ask(ctx, http.MethodDelete, key, nil, "", nil)
	if err := errors.Join(secondErr, err); err != nil {
		return s.lost(err)
	}
	// 409 is Amazon's where two write at once (Amazon S3, conditional requests).
	if second.status != http.StatusPreconditionFailed && second.status != http.StatusConflict {
		return unsupported(second)
	}
	if f := s.verdict("delete objects", removed); f != nil {
		return f
	}
	return nil
}

func unsupported(a *answer) error {
	return failed(zerofs.ReasonConditionalPutUnsupported,
		"the store does not refuse a second write with If-None-Match (it answered %s), by which ZeroFS keeps a second writer out. Use a store that does", describe(a))
}

func failed(reason, format string, args ...any) *zerofs.Failure {
	return &zerofs.Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// lost is a store that answered before and does no longer.
func (s *store) lost(err error) error {
	return failed(zerofs.ReasonEndpointUnreachable, "%s no longer answers: %s", s.base, plainCause(err))
}

// describe an answer for an administrator.
func describe(a *answer) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.status, a.code, zerofs.Plain(a.message)))
}
