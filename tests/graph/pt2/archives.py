"""Archives, and JSON in them, that are wrong, and other files than exported programs."""

from model import Entry, case, zip_bytes


# ---- archives that are wrong ----

@case
def empty(m):
    return b""


@case
def no_zip(m):
    return b"def f(): pass\n" * 100


@case
def truncated(m):
    return m.pack()[:-300]


@case
def truncated_start(m):
    return m.pack()[700:]


@case
def compressed(m):
    m.fields["data/weights/weight_1"] = {"method": 8}


@case
def bomb(m):
    """A terabyte that is said to be in 32 bytes."""
    m.fields["data/weights/weight_1"] = {"method": 8, "size": 4294967294, "packed": 32}


@case
def two_sizes(m):
    m.fields["data/weights/weight_1"] = {"size": 4294967294, "packed": 32}


@case
def past_the_end(m):
    m.fields["data/weights/weight_1"] = {"size": 1 << 30}


@case
def bad_offset(m):
    m.fields["data/weights/weight_1"] = {"offset": 1 << 31}


@case
def wrong_header(m):
    m.fields["data/weights/weight_1"] = {"offset": 0}


@case
def encrypted(m):
    m.fields["data/weights/weight_1"] = {"flags": 1}


@case
def upwards(m):
    m.entries["../../etc/passwd"] = b""


@case
def absolute(m):
    return zip_bytes([Entry("/" + "models/model.json", b"{}")])


@case
def nul_in_name(m):
    return zip_bytes([Entry("a\0b", b"")])


@case
def long_name(m):
    return zip_bytes([Entry("a" * 5000, b"")])


@case
def twice(m):
    data = m.pack()
    entries = [Entry("model/byteorder", b"little"), Entry("model/byteorder", b"big")]
    return zip_bytes(entries) if data else data


@case
def directory_too_short(m):
    data = m.pack()
    return data[:-12] + b"\xff\xff" * 2 + data[-8:]


# ---- other files ----

@case
def torch_save(m):
    return zip_bytes([Entry("model/data.pkl", b""), Entry("model/version", b"3")])


@case
def torch_script(m):
    return zip_bytes([Entry("model/constants.pkl", b""), Entry("model/data.pkl", b"")])


@case
def older_export(m):
    return zip_bytes([Entry("serialized_exported_program.json", b"{}"), Entry("version", b"8.2")])


@case
def no_archive(m):
    m.entries["archive_format"] = b"pt3"


@case
def big_endian(m):
    m.entries["byteorder"] = b"big"


@case
def no_program(m):
    m.entries["models/model.json"] = None


@case
def two_programs(m):
    m.entries["models/other.json"] = b"{}"


@case
def other_version(m):
    m.program["schema_version"] = {"major": 9, "minor": 2}


# ---- JSON that is wrong ----

@case
def no_json(m):
    m.entries["models/model.json"] = b"{\"graph_module\":\n {]}"


@case
def json_empty(m):
    m.entries["models/model.json"] = b""


@case
def json_array(m):
    m.entries["models/model.json"] = b"[]"


@case
def json_deep(m):
    m.entries["models/model.json"] = b"[" * 1000000


@case
def json_key_twice(m):
    m.entries["models/model.json"] = b"{\"a\": 1, \"a\": 2}"


@case
def json_large_number(m):
    m.nodes[2]["inputs"][1]["arg"] = {"as_int": 1 << 64}


@case
def json_utf8(m):
    m.entries["models/model.json"] = b"{\"\xff\": 1}"


@case
def key_missing(m):
    del m.program["graph_module"]["signature"]


@case
def key_of_other_type(m):
    m.graph["nodes"] = "none"


@case
def node_of_other_type(m):
    m.graph["nodes"][1] = 7


@case
def bool_of_other_type(m):
    m.weights["weight"]["use_pickle"] = 0


@case
def union_of_two(m):
    m.nodes[1]["inputs"][0]["arg"]["as_int"] = 1


@case
def range_of_other_type(m):
    m.program["range_constraints"]["s0"] = 3
