package staging

import (
	"slices"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func TestFind(t *testing.T) {
	tests := []struct {
		name          string
		modules       []module.Version
		text, command string
	}{
		{"none", nil, "", ""},
		{"one release", []module.Version{{Path: "k8s.io/api", Version: "v0.37.1"},
			{Path: "k8s.io/apimachinery", Version: "v0.37.2"}}, "", ""},
		{
			"two releases",
			[]module.Version{
				{Path: "k8s.io/client-go", Version: "v0.36.4"}, {Path: "k8s.io/apimachinery", Version: "v0.37.2"},
				{Path: "k8s.io/api", Version: "v0.36.4"}, {Path: "k8s.io/streaming", Version: "v0.37.2"},
			},
			"k8s.io/apimachinery v0.37.2 beside k8s.io/api v0.36.4, k8s.io/client-go v0.36.4",
			"go get k8s.io/api@v0.37.2 k8s.io/client-go@v0.37.2",
		},
		{
			"the newer version of a path counts",
			[]module.Version{{Path: "k8s.io/apimachinery", Version: "v0.36.4"},
				{Path: "k8s.io/api", Version: "v0.37.2"}, {Path: "k8s.io/apimachinery", Version: "v0.37.2"}},
			"", "",
		},
		{
			"modules with releases of their own",
			[]module.Version{
				{Path: "k8s.io/api", Version: "v0.37.2"}, {Path: "k8s.io/klog/v2", Version: "v2.140.0"},
				{Path: "k8s.io/kube-openapi", Version: "v0.0.0-20260821135717-be32def86098"},
				{Path: "k8s.io/gengo/v2", Version: "v2.0.0-20260408192533-25e2208e0dc3"},
				{Path: "k8s.io/node-problem-detector", Version: "v0.8.19"},
				{Path: "sigs.k8s.io/gateway-api", Version: "v0.20.0"}, {Path: "k8s.io/kubernetes", Version: "v1.36.0"},
			},
			"", "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			skew := Find(test.modules)
			if skew.String() != test.text || skew.Command() != test.command {
				t.Errorf("got %q, `%s`", skew, skew.Command())
			}
			if skew.Skewed() != (test.command != "") {
				t.Errorf("skewed: %v", skew.Skewed())
			}
		})
	}
}

func TestRequired(t *testing.T) {
	mod, err := modfile.Parse("go.mod", []byte(`module example.com/deploy

require (
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
)

replace (
	k8s.io/api => k8s.io/api v0.36.4
	k8s.io/client-go v0.37.2 => example.com/client-go v0.35.0
	k8s.io/apimachinery => ../apimachinery
)
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []module.Version{
		{Path: "k8s.io/api", Version: "v0.36.4"}, {Path: "k8s.io/apimachinery", Version: "v0.37.2"},
		{Path: "k8s.io/client-go", Version: "v0.35.0"},
	}
	if got := Required(mod); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
