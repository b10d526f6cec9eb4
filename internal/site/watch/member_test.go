package watch

import (
	"fmt"
	"strings"
	"testing"
)

func TestMembersAreParsed(t *testing.T) {
	for text, want := range map[string]Member{
		"name=south,host=shop.south.example,port=6432": {"south", "shop.south.example", 6432},
		"host=shop.south.example,name=south":           {"south", "shop.south.example", 5432},
		"name=s,host=10.0.0.7":                         {"s", "10.0.0.7", 5432},
	} {
		if got, err := ParseMember(text); err != nil || got != want {
			t.Errorf("%s: got %+v %v", text, got, err)
		}
	}
}

// A name is part of a path, and a host is part of a connection string.
func TestOtherMembersAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "south", "name=south", "host=a.example", "name=south,host=", "name=,host=a", "name=south,host=a,port=0", "name=south,host=a,port=65536",
		"name=south,host=a,port=-1", "name=south,host=a,port=", "name=south,host=a,user=postgres", "name=south,host=a,name=north", "name=south,,host=a",
		"name=../north,host=a", "name=South,host=a", "name=south-,host=a", "name=1south,host=a", "name=" + strings.Repeat("s", 25) + ",host=a",
		"name=south,host=/run/postgresql", "name=south,host=a sslmode=disable", "name=south,host=a..b", "name=south,host=A", "name=south,host=-a",
		"name=south,host=" + strings.Repeat("a.", 127) + "a", "name=south,host=a\nb", "name=south,host=fe80::1",
	} {
		if got, err := ParseMember(text); err == nil || got != (Member{}) {
			t.Errorf("%q: got %+v %v", text, got, err)
		}
	}
}

func TestMembersAreFewAndDiffer(t *testing.T) {
	var many []Member
	for i := range 9 {
		many = append(many, Member{Name: fmt.Sprintf("s%d", i)})
	}
	for name, c := range map[string]struct {
		members []Member
		valid   bool
	}{
		"none": {nil, false}, "one": {many[:1], true}, "eight": {many[:8], true}, "nine": {many, false}, "one twice": {[]Member{many[0], many[0]}, false},
	} {
		if err := Check(c.members); (err == nil) != c.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
