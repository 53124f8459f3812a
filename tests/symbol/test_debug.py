import gluonish.symbol as sym


def test_the_graph_is_listed_with_inputs_and_attributes() -> None:
    y = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
    assert y.debug_str() == (
        "Symbol Outputs:\n\toutput[0]=fc(0)\nVariable:data\nVariable:fc_weight\n"
        "Variable:fc_bias\n--------------------\nOp:FullyConnected, Name=fc\nInputs:\n"
        "\targ[0]=data(0) version=0\n\targ[1]=fc_weight(0) version=0\n"
        "\targ[2]=fc_bias(0) version=0\nAttrs:\n\tnum_hidden=3\n"
    )


def test_only_variables_have_a_version() -> None:
    text = sym.relu(sym.relu(sym.var("x"), name="a"), name="b").debug_str()
    assert "arg[0]=x(0) version=0\n" in text
    assert "arg[0]=a(0)\n" in text
