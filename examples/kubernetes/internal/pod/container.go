package pod

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

func (s *spec) validateContainers() (errs rule.Errors) {
	path := s.path.Child("containers")
	if len(s.Containers) == 0 {
		return rule.Errors{field.Required(path, "")}
	}
	var names []string
	for i := range s.Containers {
		c, at := &s.Containers[i], path.Index(i)
		errs = append(errs, s.validateContainer(c, at)...)
		errs = append(errs, rule.When(slices.Contains(names, c.Name), field.Duplicate(at.Child("name"), c.Name))...)
		names = append(names, c.Name)
		errs = append(errs, s.validateLife(c, at)...)
		errs = append(errs, validateRestartRules(c, at)...)
	}
	return append(errs, validateHostPortsOnce(s.Containers, path)...)
}

func (s *spec) validateInitContainers() (errs rule.Errors) {
	path := s.path.Child("initContainers")
	names := namesOf(s.Containers)
	for i := range s.InitContainers {
		c, at := &s.InitContainers[i], path.Index(i)
		errs = append(errs, s.validateContainer(c, at)...)
		switch {
		case c.RestartPolicy == nil:
			errs = append(errs, rule.When(len(c.RestartPolicyRules) > 0, field.Required(at.Child("restartPolicy"),
				"must specify restartPolicy when restart rules are used"))...)
		default:
			errs = append(errs, validateRestartRules(c, at)...)
		}
		errs = append(errs, rule.When(slices.Contains(names, c.Name), field.Duplicate(at.Child("name"), c.Name))...)
		if c.Name != "" {
			names = append(names, c.Name)
		}
		errs = append(errs, validateHostPortsOnce(s.InitContainers[i:i+1], path)...)
		if IsSidecar(c) {
			errs = append(errs, s.validateLife(c, at)...)
			continue
		}
		errs = append(errs, validateNoLife(c, at)...)
		errs = append(errs, rule.Each(c.ResizePolicy, at.Child("resizePolicy"),
			func(p *corev1.ContainerResizePolicy, path *field.Path) rule.Errors {
				return rule.When(p.RestartPolicy == corev1.RestartContainer, field.Invalid(path.Child("restartPolicy"),
					p.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
			})...)
	}
	return errs
}

// IsSidecar reports whether an init container runs as long as its pod.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func namesOf(containers []corev1.Container) (names []string) {
	for i := range containers {
		names = append(names, containers[i].Name)
	}
	return names
}

func (s *spec) validateEphemeralContainers() (errs rule.Errors) {
	path := s.path.Child("ephemeralContainers")
	others := append(namesOf(s.Containers), namesOf(s.InitContainers)...)
	names := slices.Clone(others)
	for i := range s.EphemeralContainers {
		e, at := &s.EphemeralContainers[i], path.Index(i)
		c := (*corev1.Container)(&e.EphemeralContainerCommon)
		errs = append(errs, s.validateContainer(c, at)...)
		errs = append(errs, trimmedImage(c, at)...)
		errs = append(errs, rule.When(slices.Contains(names, e.Name), field.Duplicate(at.Child("name"), e.Name))...)
		names = append(names, e.Name)
		target := e.TargetContainerName
		errs = append(errs, rule.When(target != "" && !slices.Contains(others, target),
			field.NotFound(at.Child("targetContainerName"), target))...)
		errs = append(errs, validateEphemeral(c, at)...)
	}
	return errs
}

// validateEphemeral refuses what an ephemeral container can't have.
func validateEphemeral(c *corev1.Container, path *field.Path) (errs rule.Errors) {
	const wrong = "cannot be set for an Ephemeral Container"
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"ports", c.Ports != nil},
		{"resources", c.Resources.Limits != nil || c.Resources.Requests != nil || c.Resources.Claims != nil},
		{"resizePolicy", c.ResizePolicy != nil},
		{"restartPolicy", c.RestartPolicy != nil},
		{"restartPolicyRules", c.RestartPolicyRules != nil},
		{"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil},
		{"startupProbe", c.StartupProbe != nil},
		{"lifecycle", c.Lifecycle != nil},
	} {
		errs = append(errs, rule.When(f.set, field.Forbidden(path.Child(f.name), wrong))...)
	}
	return append(errs, rule.Each(c.VolumeMounts, path.Child("volumeMounts"),
		func(mount *corev1.VolumeMount, path *field.Path) rule.Errors {
			return append(rule.When(mount.SubPath != "", field.Forbidden(path.Child("subPath"), wrong)),
				rule.When(mount.SubPathExpr != "", field.Forbidden(path.Child("subPathExpr"), wrong))...)
		})...)
}

// validateContainer validates what all sorts of containers have.
func (s *spec) validateContainer(c *corev1.Container, path *field.Path) rule.Errors {
	name := path.Child("name")
	named := rule.Required(name, c.Name)
	if c.Name != "" {
		named = rule.Label(name, c.Name)
	}
	return rule.All(
		named,
		rule.Required(path.Child("image"), c.Image),
		rule.RequiredOneOf(path.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
			corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError),
		validatePorts(c.Ports, path.Child("ports")),
		validateEnv(c.Env, path.Child("env")),
		validateEnvFrom(c.EnvFrom, path.Child("envFrom")),
		s.validateMounts(c, path.Child("volumeMounts")),
		s.validateDevices(c, path.Child("volumeDevices")),
		validatePullPolicy(c.ImagePullPolicy, path.Child("imagePullPolicy")),
		validateRequirements(&c.Resources, s.claims, path.Child("resources")),
		s.validateResizePolicy(c.ResizePolicy, path.Child("resizePolicy")),
		validateContainerSecurity(c.SecurityContext, path.Child("securityContext"), s.HostUsers),
	)
}

func validatePullPolicy(policy corev1.PullPolicy, path *field.Path) rule.Errors {
	return rule.RequiredOneOf(path, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func validatePorts(ports []corev1.ContainerPort, path *field.Path) rule.Errors {
	var names []string
	return rule.Each(ports, path, func(port *corev1.ContainerPort, path *field.Path) (errs rule.Errors) {
		if port.Name != "" {
			messages := validation.IsValidPortName(port.Name)
			errs = append(errs, rule.Texts(path.Child("name"), port.Name, messages)...)
			errs = append(errs, rule.When(slices.Contains(names, port.Name),
				field.Duplicate(path.Child("name"), port.Name))...)
			if len(messages) == 0 {
				names = append(names, port.Name)
			}
		}
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(path.Child("containerPort"), ""))
		} else {
			errs = append(errs, rule.Port(path.Child("containerPort"), port.ContainerPort)...)
		}
		if port.HostPort != 0 {
			errs = append(errs, rule.Port(path.Child("hostPort"), port.HostPort)...)
		}
		return append(errs, Protocol(path.Child("protocol"), port.Protocol)...)
	})
}

// Protocol wants one of the protocols of ports.
func Protocol(path *field.Path, protocol corev1.Protocol) rule.Errors {
	return rule.RequiredOneOf(path, protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
}

// validateHostPorts wants ports on the host to be those of the containers where these use the network of the host.
func (s *spec) validateHostPorts() rule.Errors {
	if !s.HostNetwork {
		return nil
	}
	return rule.Each(s.Containers, s.path.Child("containers"), func(c *corev1.Container, path *field.Path) rule.Errors {
		return rule.Each(c.Ports, path.Child("ports"), func(port *corev1.ContainerPort, path *field.Path) rule.Errors {
			checked := s.meta != nil || port.HostPort != 0
			return rule.When(checked && port.HostPort != port.ContainerPort, field.Invalid(path.Child("hostPort"),
				port.HostPort, "must match `containerPort` when `hostNetwork` is true"))
		})
	})
}

func validateHostPortsOnce(containers []corev1.Container, path *field.Path) rule.Errors {
	var taken []string
	return rule.Each(containers, path, func(c *corev1.Container, path *field.Path) rule.Errors {
		return rule.Each(c.Ports, path.Child("ports"), func(p *corev1.ContainerPort, path *field.Path) rule.Errors {
			at := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
			if p.HostPort == 0 {
				return nil
			}
			twice := slices.Contains(taken, at)
			taken = append(taken, at)
			return rule.When(twice, field.Duplicate(path.Child("hostPort"), at))
		})
	})
}

// Bounds of the rules by which a container is restarted.
const (
	maxRestartRules = 20
	maxExitCodes    = 255
)

func validateRestartRules(c *corev1.Container, path *field.Path) rule.Errors {
	at := path.Child("restartPolicy")
	if c.RestartPolicy == nil && len(c.RestartPolicyRules) == 0 {
		return nil
	}
	errs := rule.When(c.RestartPolicy == nil, field.Required(at,
		"must specify restartPolicy when restart rules are used"))
	errs = append(errs, rule.OptionalOneOf(at, c.RestartPolicy, corev1.ContainerRestartPolicyAlways,
		corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	rules := path.Child("restartPolicyRules")
	errs = append(errs, rule.When(len(c.RestartPolicyRules) > maxRestartRules,
		field.TooMany(rules, len(c.RestartPolicyRules), maxRestartRules))...)
	return append(errs, rule.Each(c.RestartPolicyRules, rules, validateRestartRule)...)
}

func validateRestartRule(r *corev1.ContainerRestartRule, path *field.Path) rule.Errors {
	errs := rule.OneOf(path.Child("action"), r.Action, corev1.ContainerRestartRuleActionRestart,
		corev1.ContainerRestartRuleActionRestartAllContainers)
	codes := path.Child("exitCodes")
	if r.ExitCodes == nil {
		return append(errs, field.Required(codes, "must be specified"))
	}
	errs = append(errs, rule.OneOf(codes.Child("operator"), r.ExitCodes.Operator,
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	return append(errs, rule.When(len(r.ExitCodes.Values) > maxExitCodes,
		field.TooMany(codes.Child("values"), len(r.ExitCodes.Values), maxExitCodes))...)
}

func (s *spec) validateResizePolicy(policies []corev1.ContainerResizePolicy, path *field.Path) (errs rule.Errors) {
	var seen []corev1.ResourceName
	for i, p := range policies {
		errs = append(errs, rule.When(slices.Contains(seen, p.ResourceName),
			field.Duplicate(path.Index(i), p.ResourceName))...)
		seen = append(seen, p.ResourceName)
		errs = append(errs, rule.RequiredOneOf(path, p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, rule.RequiredOneOf(path, p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		errs = append(errs, rule.When(s.RestartPolicy == corev1.RestartPolicyNever &&
			p.RestartPolicy != corev1.NotRequired, field.Invalid(path, p.RestartPolicy,
			"must be 'NotRequired' when pod `restartPolicy` is 'Never'"))...)
	}
	return errs
}
