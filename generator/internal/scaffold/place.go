package scaffold

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// place completes the options with the group and the version of the project that a kind is added to, if it has
// exactly one of them. It says which it took; nothing where the options name both.
func place(options *Options) (string, error) {
	if options.Kind == "" || options.Group != "" && options.Version != "" {
		return "", nil
	}
	found, err := apiPackages(options.Dir)
	if err != nil {
		return "", err
	}
	versions := map[string][]string{} // by group
	for _, folder := range found.own {
		if group := found.groups[folder]; group != "" {
			versions[group] = append(versions[group], path.Base(folder))
		}
	}
	var took []string
	if options.Group == "" {
		groups := slices.Sorted(maps.Keys(versions))
		if err := several("group", options.Dir, groups); err != nil || len(groups) == 0 {
			return "", err
		}
		options.Group = groups[0]
		took = append(took, "group "+options.Group)
	}
	if options.Version == "" {
		all := versions[options.Group]
		if err := several("version", "group "+options.Group, all); err != nil || len(all) == 0 {
			return "", err
		}
		options.Version = all[0]
		took = append(took, "version "+options.Version)
	}
	return strings.Join(took, ", "), nil
}

// several returns an error that names the values, if they are more than one.
func several(what, of string, values []string) error {
	if len(values) < 2 {
		return nil
	}
	return fmt.Errorf("--%s is missing, and %s has several %ss: %s", what, of, what, strings.Join(values, ", "))
}
