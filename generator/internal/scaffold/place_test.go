package scaffold

import (
	"strings"
	"testing"
)

// TestPlace: a kind is added to the only group and version of a project, and to none of several.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name, group, version string
		packages             []string // group/version
		took, fault, file    string
	}{
		{name: "one of each", packages: []string{"shop.example.com/v1"},
			took: "group shop.example.com, version v1", file: "apis/shop/v1/gadget_types.go"},
		{name: "a version of the only group", version: "v2", packages: []string{"shop.example.com/v1"},
			took: "group shop.example.com", file: "apis/shop/v2/types.go"},
		{name: "the only version of a group", group: "yard.example.com",
			packages: []string{"shop.example.com/v1", "shop.example.com/v2", "yard.example.com/v1beta1"},
			took:     "version v1beta1", file: "apis/yard/v1beta1/gadget_types.go"},
		{name: "both named", group: "shop.example.com", version: "v1",
			packages: []string{"shop.example.com/v1", "shop.example.com/v2"}, file: "apis/shop/v1/gadget_types.go"},
		{name: "several groups", packages: []string{"yard.example.com/v1", "shop.example.com/v1"},
			fault: "has several groups: shop.example.com, yard.example.com"},
		{name: "several versions", packages: []string{"shop.example.com/v1", "shop.example.com/v2"},
			fault: "group shop.example.com has several versions: v1, v2"},
		{name: "another group", group: "yard.example.com", packages: []string{"shop.example.com/v1"},
			fault: "--version is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, p := range c.packages {
				_, err := Init(in(dir, func(o *Options) {
					o.Kind = []string{"Widget", "Tool", "Thing"}[i]
					o.Group, o.Version, _ = strings.Cut(p, "/")
				}))
				if err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, dir)
			result, err := Init(Options{Dir: dir, Group: c.group, Version: c.version, Kind: "Gadget"})
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || len(tree(t, dir)) != len(before) {
					t.Errorf("got %+v, %v, want %s", result, err, c.fault)
				}
				return
			}
			if err != nil || result.Took != c.took || tree(t, dir)[c.file] == "" {
				t.Errorf("got %+v, %v, want %s in %s", result, err, c.took, c.file)
			}
		})
	}
}
