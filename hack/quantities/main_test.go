package main

import "testing"

func TestGuard(t *testing.T) {
	for rule, want := range map[string]string{
		"self > 1":         "self > 1",
		"isQuantity(self)": "(size(self) <= 35 && !self.matches('[eE]....') && isQuantity(self))",
		"!isQuantity(string(oldSelf)) || quantity(string(oldSelf)).isGreaterThan(quantity('0'))": "!(size(string(oldSelf)) <= 35 && !string(oldSelf).matches('[eE]....') && isQuantity(string(oldSelf))) || quantity(string(oldSelf)).isGreaterThan(quantity('0'))",
		"self.all(k, isQuantity(string(self[k])))":                                               "self.all(k, (size(string(self[k])) <= 35 && !string(self[k]).matches('[eE]....') && isQuantity(string(self[k]))))",
		"isQuantity(string(self['cpu']))":                                                        "(size(string(self['cpu'])) <= 35 && !string(self['cpu']).matches('[eE]....') && isQuantity(string(self['cpu'])))",
	} {
		if got, err := guard(rule); err != nil || got != want {
			t.Errorf("%s became %s, %v", rule, got, err)
		}
	}
	for _, rule := range []string{
		"quantity(string(self)).compareTo(quantity('1Gi')) >= 0",
		"isQuantity(string(self)) && quantity(string(oldSelf)).compareTo(quantity(string(self))) >= 0",
		"quantity(self.minSize).compareTo(quantity('1')) > 0",
	} {
		if got, err := guard(rule); err == nil {
			t.Errorf("%s became %s", rule, got)
		}
	}
}
