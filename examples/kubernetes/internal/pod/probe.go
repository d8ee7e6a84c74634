package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// validateLife validates the hooks and the probes of a container.
func (s *spec) validateLife(c *corev1.Container, path *field.Path) (errs rule.Errors) {
	if c.Lifecycle != nil {
		errs = append(errs, s.validateLifecycle(c.Lifecycle, path.Child("lifecycle"))...)
	}
	once := func(probe *corev1.Probe, path *field.Path) rule.Errors {
		return rule.When(probe.SuccessThreshold != 1,
			field.Invalid(path.Child("successThreshold"), probe.SuccessThreshold, "must be 1"))
	}
	errs = append(errs, s.validateProbe(c.LivenessProbe, path.Child("livenessProbe"), once)...)
	errs = append(errs, s.validateProbe(c.ReadinessProbe, path.Child("readinessProbe"),
		func(probe *corev1.Probe, path *field.Path) rule.Errors {
			return rule.When(probe.TerminationGracePeriodSeconds != nil,
				field.Invalid(path.Child("terminationGracePeriodSeconds"), probe.TerminationGracePeriodSeconds,
					"must not be set for readinessProbes"))
		})...)
	return append(errs, s.validateProbe(c.StartupProbe, path.Child("startupProbe"), once)...)
}

// validateNoLife refuses hooks and probes of a container that ends before the others begin.
func validateNoLife(c *corev1.Container, path *field.Path) (errs rule.Errors) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil},
	} {
		errs = append(errs, rule.When(f.set, field.Forbidden(path.Child(f.name),
			"may not be set for init containers without restartPolicy=Always"))...)
	}
	return errs
}

func (s *spec) validateLifecycle(life *corev1.Lifecycle, path *field.Path) (errs rule.Errors) {
	if hook := life.PostStart; hook != nil {
		errs = append(errs, s.validateHandler(handler{hook.Exec, hook.HTTPGet, hook.TCPSocket, nil, hook.Sleep},
			path.Child("postStart"))...)
	}
	if hook := life.PreStop; hook != nil {
		errs = append(errs, s.validateHandler(handler{hook.Exec, hook.HTTPGet, hook.TCPSocket, nil, hook.Sleep},
			path.Child("preStop"))...)
	}
	return errs
}

func (s *spec) validateProbe(
	probe *corev1.Probe, path *field.Path, more func(*corev1.Probe, *field.Path) rule.Errors,
) rule.Errors {
	if probe == nil {
		return nil
	}
	grace := probe.TerminationGracePeriodSeconds
	return rule.All(
		s.validateHandler(handler{probe.Exec, probe.HTTPGet, probe.TCPSocket, probe.GRPC, nil}, path),
		rule.NotNegative(path.Child("initialDelaySeconds"), probe.InitialDelaySeconds),
		rule.NotNegative(path.Child("timeoutSeconds"), probe.TimeoutSeconds),
		rule.NotNegative(path.Child("periodSeconds"), probe.PeriodSeconds),
		rule.NotNegative(path.Child("successThreshold"), probe.SuccessThreshold),
		rule.NotNegative(path.Child("failureThreshold"), probe.FailureThreshold),
		rule.When(grace != nil && *grace <= 0, field.Invalid(path.Child("terminationGracePeriodSeconds"), grace,
			"must be greater than 0")),
		more(probe, path),
	)
}

// handler is what a hook or a probe does: one thing of these.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (s *spec) validateHandler(h handler, path *field.Path) (errs rule.Errors) {
	handlers := 0
	for _, f := range []struct {
		name  string
		set   bool
		check func(path *field.Path) rule.Errors
	}{
		{"exec", h.exec != nil, func(path *field.Path) rule.Errors {
			return rule.When(len(h.exec.Command) == 0, field.Required(path.Child("command"), ""))
		}},
		{"httpGet", h.http != nil, func(path *field.Path) rule.Errors { return validateHTTP(h.http, path) }},
		{"tcpSocket", h.tcp != nil, func(path *field.Path) rule.Errors {
			return rule.PortOrName(path.Child("port"), h.tcp.Port)
		}},
		{"grpc", h.grpc != nil, func(path *field.Path) rule.Errors {
			return rule.PortOrName(path.Child("port"), intstr.FromInt32(h.grpc.Port))
		}},
		{"sleep", h.sleep != nil, func(path *field.Path) rule.Errors { return s.validateSleep(h.sleep, path) }},
	} {
		switch {
		case !f.set:
			continue
		case handlers > 0:
			errs = append(errs, field.Forbidden(path.Child(f.name), "may not specify more than 1 handler type"))
		default:
			errs = append(errs, f.check(path.Child(f.name))...)
		}
		handlers++
	}
	return append(errs, rule.When(handlers == 0, field.Required(path, "must specify a handler type"))...)
}

func validateHTTP(http *corev1.HTTPGetAction, path *field.Path) rule.Errors {
	errs := rule.All(
		rule.Required(path.Child("path"), http.Path),
		rule.PortOrName(path.Child("port"), http.Port),
		rule.OneOf(path.Child("scheme"), http.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS),
	)
	for _, header := range http.HTTPHeaders {
		errs = append(errs, rule.Texts(path.Child("httpHeaders"), header.Name,
			validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

func (s *spec) validateSleep(sleep *corev1.SleepAction, path *field.Path) rule.Errors {
	grace := s.TerminationGracePeriodSeconds
	if grace == nil {
		return nil
	}
	return rule.When(sleep.Seconds < 0 || sleep.Seconds > *grace, field.Invalid(path, sleep.Seconds, fmt.Sprintf(
		"must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace)))
}
