package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

var subject = regexp.MustCompile(`^([^=]+)=(?:sha256:)?([0-9a-f]{64})$`)

// provenance prints a statement of in-toto with SLSA's provenance: which commit and which
// builder made the artefacts that the further arguments name by digest.
func provenance(args []string) error {
	statement := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: "https://slsa.dev/provenance/v1"}
	for _, arg := range args[2:] {
		found := subject.FindStringSubmatch(arg)
		if found == nil {
			return fmt.Errorf("%q is not NAME=SHA256", arg)
		}
		statement.Subject = append(statement.Subject, &intoto.ResourceDescriptor{Name: found[1], Digest: map[string]string{"sha256": found[2]}})
	}
	predicate, err := build(args[0], args[1])
	if err != nil {
		return err
	}
	statement.Predicate = predicate
	if err := statement.Validate(); err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	return printJSON(statement)
}

// build describes how the artefacts were made. A builder that is not GitHub's says so: its
// word is worth what the signature of its owner is worth.
func build(version, commit string) (*structpb.Struct, error) {
	builder, invocation := source+"/hack/release.sh@local", ""
	if server, repository := os.Getenv("GITHUB_SERVER_URL"), os.Getenv("GITHUB_REPOSITORY"); os.Getenv("GITHUB_ACTIONS") == "true" {
		builder = server + "/" + os.Getenv("GITHUB_WORKFLOW_REF")
		invocation = fmt.Sprintf("%s/%s/actions/runs/%s/attempts/%s", server, repository, os.Getenv("GITHUB_RUN_ID"), os.Getenv("GITHUB_RUN_ATTEMPT"))
	}
	parameters, err := structpb.NewStruct(map[string]any{"version": version, "uncommittedChanges": os.Getenv("UNCOMMITTED") != ""})
	if err != nil {
		return nil, fmt.Errorf("provenance: %w", err)
	}
	p := &slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{
			BuildType:          source + "/blob/main/hack/release.sh",
			ExternalParameters: parameters,
			ResolvedDependencies: []*intoto.ResourceDescriptor{{
				Uri: "git+" + source + "@refs/tags/" + version, Digest: map[string]string{"gitCommit": commit},
			}},
		},
		RunDetails: &slsa.RunDetails{
			Builder:  &slsa.Builder{Id: builder},
			Metadata: &slsa.BuildMetadata{InvocationId: invocation},
		},
	}
	raw, err := protojson.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("provenance: %w", err)
	}
	out := &structpb.Struct{}
	return out, protojson.Unmarshal(raw, out)
}

// printJSON has the same bytes for the same statement; protojson varies its spaces.
func printJSON(statement *intoto.Statement) error {
	raw, err := protojson.Marshal(statement)
	if err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	fmt.Println(strings.TrimSpace(compact.String()))
	return nil
}

// predicate prints that of a statement, which cosign puts into statements of its own.
func predicate(args []string) error {
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read the statement: %w", err)
	}
	var statement struct {
		Predicate json.RawMessage `json:"predicate"`
	}
	if err := json.Unmarshal(raw, &statement); err != nil {
		return fmt.Errorf("read the statement: %w", err)
	}
	fmt.Println(string(statement.Predicate))
	return nil
}
