package celrules

// expressions are rules about one object of every type. Some are true, some are not, some fail, some are refused.
var expressions = []string{
	"self.a__dash__b == 'dashed'", "self.__namespace__ == 'kube-system'", "self.nope", "has(self.nope)", "has(self.text)",
	"self.number / 0 == 1", "self.texts[7] == 'a'", "self.labels['z'] == ''", "self.labels.a == '1'", "has(self.labels.z)", "'a' in self.labels",
	"self.either == 50", "self.either == '50%'", "self.either < 5", "type(self.either) == string", "int(self.either) == 5", "self.either.startsWith('5')",
	// lists
	"self.texts.isSorted()", "self.texts.min() == 'a'", "self.texts.max() == 'a'", "[1, 2].sum() == 3", "[].sum() == 0", "[1.5, 2.0].sum() == 3.5",
	"self.texts.filter(x, x == 'z').min() == ''", "self.texts.indexOf('c') == 2", "self.texts.lastIndexOf('q') == -1", "self.items.map(i, i.name).isSorted()",
	"self.set == ['y', 'x']", "self.set + ['x', 'z'] == ['z', 'y', 'x']", "size(self.set + ['x', 'z']) == 3", "self.items == self.items", "size(self.items + self.items) == 2",
	"self.items.all(i, has(i.size))", "self.items.exists_one(i, i.size == 1)", "self.texts + self.texts == self.texts", "'a' in self.texts", "self.texts.includes('a')",
	"self.texts.all(i, x, i < 5 && x != '')", "self.labels.transformList(k, v, k + v).isSorted()", "self.texts.flatten() == ['b']", "self.texts.sort() == ['a', 'b', 'c']", "self.texts.distinct().size() == 3",
	"self.texts.slice(1, 2) == ['a']", "self.texts.reverse() == ['c', 'a', 'b']", "lists.range(3) == [0, 1, 2]", "sets.contains(self.texts, ['a'])", "sets.equivalent(self.set, ['x'])",
	"self.labels.all(k, v, k < v)", "self.labels == {'a': '1', 'b': '2'}", "self.labels == {'a': '1'}", "self.items.map(i, i.size) == [1]",
	"self.items[?1].?size.orValue(7) == 7", "self.?text.hasValue()", "optional.of(1).value() == 2", "self.texts.sortBy(x, x) == ['a', 'b', 'c']",
	// text and patterns
	"self.text.find('[0-9]+') == '1'", "self.text.findAll('[0-9]+') == ['1', '2', '3']", "self.text.findAll('[0-9]', 1) == ['1']", "self.text.find('(') == ''", "self.text.find(self.text) == ''",
	"self.text.matches('^v')", "self.text.matches('(')", "self.text.replace('.', '-') == 'v1-2-3'", "self.text.split('.') == ['v1', '2', '3']", "self.texts.join(',') == 'b,a,c'", "self.text.lowerAscii() == 'V1'",
	"self.text.substring(1, 3) == '1.'", "self.text.substring(9) == ''", "self.text.charAt(0) == 'v'", "self.text.trim() == ''", "'%s-%d'.format([self.text, 3]) == 'x'", "strings.quote(self.text) == '\"'", "self.text.reverse() == ''",
	"self.texts.all(x, self.texts.all(y, self.texts.all(z, x + y + z != '')))", "self.texts.all(x, x.split('').all(y, y.replace('', self.text) != ''))", "self.text.replace('', self.text.replace('', self.text)) != ''",
	// urls
	"isURL(self.text)", "url('https://u:p@example.com:80/a b?k=v&k=w#f').getHost() == 'example.com:80'", "url('https://[::1]:80/').getHostname() == '::1'", "url(self.text).getScheme() == ''",
	"url('/x?a=1&a=2').getQuery() == {'a': ['1', '2']}", "url('/a b').getEscapedPath() == '/a%20b'", "url('/a') == url('/a')", "url('https://a:b:c/').getPort() == ''",
	// addresses
	"isIP('10.0.0.1') && !isIP('10.0.0.256')", "ip(self.text).family() == 4", "ip('::1').isLoopback()", "ip('::ffff:1.2.3.4').family() == 6", "ip('fe80::1%eth0').family() == 6", "ip.isCanonical('2001:DB8::1')", "ip.isCanonical('x')",
	"ip('10.0.0.1') == ip('10.0.0.1')", "string(ip('10.0.0.1')) == '10.0.0.1'", "type(ip('10.0.0.1')) == net.IP", "ip('0.0.0.0').isUnspecified()", "ip('224.0.0.1').isLinkLocalMulticast()", "ip('169.254.1.1').isLinkLocalUnicast()", "ip('8.8.8.8').isGlobalUnicast()",
	"cidr('10.0.0.0/8').containsIP('10.1.1.1')", "cidr('10.0.0.0/8').containsIP(ip('11.1.1.1'))", "cidr('10.0.0.0/8').containsIP(self.text)", "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "cidr('10.0.0.0/8').containsCIDR(self.text)",
	"cidr('10.0.0.0/8').containsCIDR(cidr('0.0.0.0/0'))", "cidr('10.0.0.1/8').masked() == cidr('10.0.0.0/8')", "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')", "cidr('10.0.0.0/8').prefixLength() == 8", "isCIDR(self.text)", "cidr(self.text).prefixLength() == 1", "string(cidr('10.0.0.0/8')) == ''",
	// quantities
	"quantity('50k').add(quantity('20k')) == quantity('70k')", "quantity('50k').add(20) == quantity('50020')", "quantity('50k').sub(20000).compareTo(quantity('30k')) == 0", "quantity('1Gi').isGreaterThan(quantity('1G'))", "quantity('1').isLessThan(quantity('0.5'))",
	"isQuantity(self.text)", "quantity(self.text).sign() == 0", "sign(quantity('-1')) == -1", "quantity('1.5').isInteger()", "quantity('1.5').asInteger() == 1", "quantity('1.5').asApproximateFloat() == 1.5", "quantity(self.either).asInteger() == 1", "quantity('9999999999999999999999G').asInteger() == 1",
	// formats
	"format.dns1123Label().validate(self.text).hasValue()", "!format.dns1123Label().validate(self.text).hasValue()", "format.named('uuid').value().validate(self.text).value() == ['x']", "format.named('nope').hasValue()", "format.uri().validate('x').value() == []", "format.dns1123Label() == format.uuid()",
	"format.qualifiedName().validate('a/b/c').value() == []", "format.labelValue().validate(self.text).value() == []", "format.date().validate(self.day) == optional.none()", "format.datetime().validate('x').value() == []", "format.byte().validate('%').value() == []", "format.dns1035LabelPrefix().validate('a-').hasValue()",
	// versions
	"isSemver('1.2.3') && !isSemver(self.text)", "isSemver(self.text, true)", "semver(self.text, true).minor() == 2", "semver(self.text).major() == 1", "semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", "semver('1.2.3-rc.10').isGreaterThan(semver('1.2.3-rc.9'))", "semver('01.2.3').patch() == 3", "semver('1', true).compareTo(semver('1.0.0')) == 0",
	"semver('1.2.3+b') == semver('1.2.3')", "semver('1-a', true).major() == 1", "semver('1.2').major() == 1", "semver('1.2.3-').major() == 1", "semver('1.2.3+').major() == 1", "semver('1.2.x').major() == 1", "semver('').major() == 1", "semver('1.2.3-01').major() == 1", "semver('1.2.3-a_b').major() == 1",
	// times, numbers, bytes
	"self.time > timestamp('2024-01-01T00:00:00Z')", "self.time.getFullYear() == 2023", "self.day == timestamp('2024-02-03T00:00:00Z')", "self.span == duration('90m')", "self.span > duration('2h')", "duration('x') == self.span", "self.data == b'hello'", "size(self.data) == 4", "self.number == 3.0", "self.real > self.number", "self.number + 9223372036854775807 > 0", "[1, 'a'] == [1]",
	"uint(self.number) == 3u", "string(self.number) == '4'", "math.greatest(1, 2) == 2", "cel.bind(x, self.number, x == 4)", "authorizer.path('/x').check('get').allowed()",
	// the past
	"self.number == oldSelf.number", "self.text != oldSelf.text", "!has(oldSelf.texts)", "oldSelf == self", "type(self) == type(oldSelf)",
}
