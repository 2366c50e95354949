package install

import "errors"

// setDefault makes our agent the one that Kiro CLI starts.
func setDefault(old []byte, exists bool, m fileMemory) (outcome, error) {
	if !exists {
		return outcome{after: newFile(object{{defaultSetting, ownAgentName}}), memory: &fileMemory{Created: true, Before: before{defaultSetting: nil}}}, nil
	}
	d, err := parse(old)
	if err != nil {
		return outcome{}, err
	}
	if k := d.twice(defaultSetting); k != "" {
		return outcome{}, &syntaxError{1, "holds the key " + k + " twice"}
	}
	v := d.find(defaultSetting)
	if l, ok := lit(v); ok && l.Kind() == '"' && l.String() == ownAgentName {
		return outcome{after: old, memory: &m}, nil
	}
	m.Before = before{defaultSetting: nil}
	if v == nil {
		d.noteEmpty(m.Before)
		err = d.addMember(nil, defaultSetting, ownAgentName)
	} else {
		was := string(d.text[v.StartOffset:v.EndOffset])
		m.Before[defaultSetting] = &was
		err = d.replace(v, d.look.render(ownAgentName, layout{inline: true}))
	}
	if err != nil {
		return outcome{}, err
	}
	if back, err := restoreDefault(d.bytes(), true, m); err != nil || !back.gone && string(back.after) != string(old) {
		return outcome{}, errors.New("cannot be edited safely: taking our setting out again would not give the same file")
	}
	return outcome{after: d.bytes(), memory: &m}, nil
}

// restoreDefault gives Kiro the default agent that it had, unless the user has chosen another one since.
func restoreDefault(old []byte, exists bool, m fileMemory) (outcome, error) {
	if !exists {
		return outcome{gone: true}, nil
	}
	d, err := parse(old)
	if err != nil {
		return outcome{}, err
	}
	v := d.find(defaultSetting)
	if l, ok := lit(v); !ok || l.Kind() != '"' || l.String() != ownAgentName {
		return outcome{after: old}, nil
	}
	if was := m.Before[defaultSetting]; was != nil {
		err = d.replace(v, *was)
	} else if err = d.dropMember([]string{defaultSetting}); err == nil {
		err = d.closeContainers([][]string{nil}, m.Before)
	}
	if err == nil && m.Created && hollow(d) {
		return outcome{gone: true}, nil
	}
	return outcome{after: d.bytes()}, err
}
