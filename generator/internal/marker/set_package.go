package marker

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

var domainPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

func setGroup(p *model.Package, u *Use) {
	p.Group, p.HasGroup = u.Value, true
	if u.Value != "" && !domainPattern.MatchString(u.Value) {
		u.Errorf("marker \"+groupName\": %q is no name of an API group: write a DNS name of small letters, digits, "+
			"dashes and dots, such as shop.example.com", u.Value)
	}
}

func setGroupGoName(p *model.Package, u *Use) { p.GroupGoName, p.GroupGoNamePos = u.Value, u.Pos }

func setPreferred(p *model.Package, u *Use) { p.Preferred, p.PreferredPos = u.True(), u.Pos }

func setPrune(p *model.Package, u *Use) { p.ConversionPrune, p.ConversionPrunePos = u.True(), u.Pos }

func setVersion(p *model.Package, u *Use) {
	if !model.IsVersion(u.Value) {
		u.Errorf("marker \"+versionName\": %q is no version of an API: write one such as v1 or v1beta1", u.Value)
		return
	}
	p.Version = u.Value
}

func setPackageCopies(p *model.Package, u *Use) {
	if len(u.beside.named("kubebuilder:object:generate")) == 0 { // which counts before this one
		p.DeepCopy = slices.Contains(strings.Split(u.Value, ","), "package")
	}
}

func setPackageObjects(p *model.Package, u *Use) { p.DeepCopy, p.Kubebuilder = u.True(), u.True() }

func setConversion(p *model.Package, u *Use) {
	switch u.Value {
	case "false":
		p.ConversionOff = true
	case "true":
	default:
		p.ConversionPeers = append(p.ConversionPeers, u.Value)
	}
}

func setDefaulter(p *model.Package, u *Use) {
	if u.Value == "false" {
		return
	}
	p.Defaulter = true
	if u.Value != "true" {
		p.DefaulterField = u.Value
	}
}

func setClients(p *model.Package, u *Use) {
	p.Clients = u.True()
	p.ClientFolder = model.Folder{Dir: u.Value, Pos: u.Pos}
}

func setExternalClients(p *model.Package, u *Use) {
	types, applies, ok := strings.Cut(u.Value, ":")
	if !ok || types == "" || applies == "" {
		u.Errorf("%q of marker \"+%s\" names no two packages: "+
			"write +%s=k8s.io/api/core/v1:k8s.io/client-go/applyconfigurations/core/v1", u.Value, u.Name, u.Name)
		return
	}
	if p.ExternalClients == nil {
		p.ExternalClients = map[string]string{}
	}
	p.ExternalClients[types] = applies
}

// folder sets the folder that the value names, relative to the package's, in the same module.
func folder(field func(*model.Package) **model.Folder) func(*model.Package, *Use) {
	return func(p *model.Package, u *Use) {
		if !p.Own() {
			return
		}
		dir := filepath.Join(p.Dir, filepath.FromSlash(u.Value))
		rel, err := filepath.Rel(p.Module.Dir, dir)
		if err != nil || !filepath.IsLocal(rel) || path.IsAbs(u.Value) {
			u.fault(": %q is no folder of this module: name one relative to that of the package: +%s=../docs", u.Value,
				u.Name)
			return
		}
		*field(p) = &model.Folder{Dir: dir, Pos: u.Pos}
	}
}
