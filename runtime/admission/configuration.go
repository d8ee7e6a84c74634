package admission

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// configurationFile is kube-apiserver's AdmissionConfiguration.
type configurationFile struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Plugins    []struct {
		Name          string          `json:"name"`
		Path          string          `json:"path"`
		Configuration json.RawMessage `json:"configuration"`
	} `json:"plugins"`
}

// Configure hands the parts of an AdmissionConfiguration (apiserver.config.k8s.io/v1), which is in YAML or JSON, to the
// plug-ins that they name. A part for a plug-in that isn't there, or that takes no configuration, is an error.
func Configure(file string, plugins []Plugin) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	config, err := parseConfiguration(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	dir := filepath.Dir(file)
	for _, part := range config.Plugins {
		if part.Path != "" && len(part.Configuration) == 0 {
			if part.Configuration, err = readPart(part.Path, dir); err != nil {
				return fmt.Errorf("%s: plug-in %q: %w", file, part.Name, err)
			}
		}
		if err := configurePlugin(plugins, part.Name, part.Configuration, dir); err != nil {
			return fmt.Errorf("%s: plug-in %q: %w", file, part.Name, err)
		}
	}
	return nil
}

// parseConfiguration reads a configuration, which has no unknown fields and names each plug-in once.
func parseConfiguration(data []byte) (*configurationFile, error) {
	config := &configurationFile{}
	if err := yaml.UnmarshalStrict(data, config); err != nil {
		return nil, err
	}
	if config.Kind != "AdmissionConfiguration" || config.APIVersion != "apiserver.config.k8s.io/v1" &&
		config.APIVersion != "apiserver.k8s.io/v1alpha1" {
		return nil, fmt.Errorf("it says kind %q, apiVersion %q: write AdmissionConfiguration, "+
			"apiserver.config.k8s.io/v1", config.Kind, config.APIVersion)
	}
	configured := map[string]bool{}
	for _, part := range config.Plugins {
		if configured[part.Name] {
			return nil, fmt.Errorf("plug-in %q stands twice", part.Name)
		}
		configured[part.Name] = true
	}
	return config, nil
}

func readPart(path, dir string) (json.RawMessage, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(data)
}

func configurePlugin(plugins []Plugin, name string, configuration []byte, dir string) error {
	for _, p := range plugins {
		switch {
		case p.Name != name:
		case p.Configure == nil:
			return fmt.Errorf("it takes no configuration")
		default:
			return p.Configure(configuration, dir)
		}
	}
	return fmt.Errorf("this server has no such admission plug-in")
}
