package watch

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

const (
	// patience bounds one attempt, from the address of the host to the answer.
	patience = 4 * time.Second
	// addressPatience with one of a host's addresses, so that another one is tried.
	addressPatience = patience / 2
	// maxAge of a session. The Service of a site leads to another instance after a failover.
	// Sessions stay with the one that they began at, which can still answer. A server that
	// shuts down waits for sessions, too.
	maxAge = 30 * time.Second
	// farewell bounds the clean end of a session.
	farewell = time.Second
	// maxMessage of a server, in bytes. An answer has at most some hundred.
	maxMessage = 64 << 10
)

const (
	// user that every site has, and that the certificate is for.
	user = "streaming_replica"
	// database that CloudNativePG lets that user into. A superuser owns it.
	database = "postgres"
	// application differs from those by which sites receive WAL.
	application = "pgstorage-watch"
)

// session at one member, which is opened when it is needed.
type session struct {
	member Member
	folder string
	clock  clock.PassiveClock

	conn  *pgx.Conn
	began time.Time
}

// ask the member once. The error is that of the report's problem.
func (s *session) ask(ctx context.Context) (report.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := s.clock.Now()
	m, err := s.answer(ctx)
	if err != nil {
		return report.Member{Name: s.member.Name, Asked: began.Unix(), Problem: problemOf(err)}, err
	}
	return m, nil
}

// answer of a session. One that broke since the last answer says nothing about the server:
// a new one is tried in its place.
func (s *session) answer(ctx context.Context) (report.Member, error) {
	if s.conn != nil && s.clock.Since(s.began) >= maxAge {
		s.end(ctx)
	}
	kept := s.conn != nil
	m, err := s.attempt(ctx)
	if err != nil && kept && ctx.Err() == nil {
		return s.attempt(ctx)
	}
	return m, err
}

func (s *session) attempt(ctx context.Context) (report.Member, error) {
	if err := s.open(ctx); err != nil {
		return report.Member{}, err
	}
	var a answer
	before := s.clock.Now()
	// This mode takes one round trip, which the skew of clocks is corrected by.
	err := s.conn.QueryRow(ctx, question, pgx.QueryExecModeExec).Scan(a.fields()...)
	after := s.clock.Now()
	if err != nil {
		s.end(ctx)
		return report.Member{}, fmt.Errorf("ask: %w", err)
	}
	return a.read(s.member.Name, before, after)
}

func (s *session) open(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	config, err := s.config()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.conn, s.began = conn, s.clock.Now()
	return nil
}

// config of a session. It depends on nothing of the environment: no password, no setting.
func (s *session) config() (*pgx.ConnConfig, error) {
	tls, err := secure(filepath.Join(s.folder, s.member.Name), s.member.Host)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%d user=%s dbname=%s sslmode=verify-full",
		s.member.Host, s.member.Port, user, database))
	if err != nil {
		return nil, err
	}
	config.TLSConfig, config.Fallbacks, config.Password = tls, nil, ""
	config.ConnectTimeout, config.MaxProtocolMessageBodyLen = addressPatience, maxMessage
	// Settings of a session override those of its role and database.
	config.RuntimeParams = map[string]string{
		"application_name":              application,
		"client_encoding":               "UTF8",
		"default_transaction_read_only": "on",
		"search_path":                   "",
		"statement_timeout":             strconv.FormatInt(patience.Milliseconds(), 10),
	}
	return config, nil
}

// end the session, if there is one. It takes at most farewell.
func (s *session) end(ctx context.Context) {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	_ = s.conn.Close(ctx) // the server notices at the latest when the process ends
	s.conn = nil
}
