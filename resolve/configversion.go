package resolve

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

// configured names the version of a resolver by the version of its rules and
// the digest of its configuration, so that evidence tells both.
func configured(rules string, config ...canon.Member) (string, error) {
	v := canon.ObjectValue(config...)
	if err := canon.Check(v); err != nil {
		return "", fmt.Errorf("options of %s: %w", rules, err)
	}
	return rules + "+" + short(canon.Sum(v.Canonical())), nil
}

func textMember(name, text string) canon.Member {
	return canon.Member{Name: name, Value: canon.StringValue(text)}
}

func textsMember(name string, texts []string) canon.Member {
	values := make([]canon.Value, len(texts))
	for i, text := range texts {
		values[i] = canon.StringValue(text)
	}
	return canon.Member{Name: name, Value: canon.ArrayValue(values...)}
}

func mapMember(name string, texts map[string]string) canon.Member {
	var members []canon.Member
	for _, key := range sortedKeys(texts) {
		members = append(members, textMember(key, texts[key]))
	}
	return canon.Member{Name: name, Value: canon.ObjectValue(members...)}
}

// onlyValue are the roles of a resolver of one text.
func onlyValue() Roles {
	return Roles{In: []string{RoleValue}, Out: []string{RoleValue}, Need: []string{RoleValue}, Some: []string{RoleValue}}
}

// valueText returns the text of the role "value".
func valueText(in map[string]canon.Value, rule, expected string) (string, error) {
	v := in[RoleValue]
	if v.Kind() != canon.String {
		return "", canon.Refuse("/"+RoleValue, rule, expected)
	}
	return v.Text(), nil
}

func textAnswer(version, text string) Answer {
	return Answer{Version: version, Values: map[string]canon.Value{RoleValue: canon.StringValue(text)}}
}
