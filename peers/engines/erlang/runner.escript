#!/usr/bin/env escript
%% The asn1 application of Erlang/OTP as a peer; see ../python_runner.py for the protocol.
%%
%% What its compiler makes is interpreted: the Erlang compiler would need minutes for the larger specifications.
-mode(compile).

-define(OPTIONS, #{"ber" => [ber], "der" => [ber, der], "aper" => [per], "uper" => [uper]}).

main(_) ->
    io:setopts(standard_io, [{encoding, latin1}]),
    application:load(asn1),
    {ok, Version} = application:get_key(asn1, vsn),
    Name = "Erlang/OTP " ++ erlang:system_info(otp_release) ++ " asn1 " ++ Version,
    put(name, Name),
    loop().

loop() ->
    case file:read_line(standard_io) of
        {ok, Line} ->
            {ok, Tokens, _} = erl_scan:string(Line ++ "."),
            {ok, Request} = erl_parse:parse_term(Tokens),
            io:put_chars([answer(Request), $\n]),
            loop();
        _ ->
            ok
    end.

%% The files are one for each module, with the module's name.
answer(["open", Name, Files, Modules, Rules]) ->
    Wanted = [Rule || Rule <- Rules, maps:is_key(Rule, ?OPTIONS)],
    Base = filename:join("erlang", [case C of $/ -> $_; _ -> C end || C <- Name]),
    put(base, Base),
    Ready = [{Rule, compile_modules(filename:join(Base, Rule), Rule, Files, Modules)} || Rule <- Wanted],
    object([{"name", text(get(name))}, {"rules", object([{Rule, text(Why)} || {Rule, Why} <- Ready])}]);
answer(["check", Module, Type, Rule, Octets, _Der, Tree]) ->
    M = {Rule, list_to_atom(Module)},
    T = list_to_atom(Type),
    {Decoded, Encoded, Written} =
        try
            Value = value(call(M, decode, [T, binary:decode_hex(list_to_binary(Octets))])),
            compare(Tree, Value, Type),
            try octets(call(M, encode, [T, Value])) of
                Octets2 -> {"", "", binary_to_list(string:lowercase(binary:encode_hex(Octets2)))}
            catch
                _:E2 -> {"", "cannot encode: " ++ short(E2), ""}
            end
        catch
            throw:{unlike, Path, Text} -> {"other value: " ++ Path ++ ": " ++ Text, "", ""};
            _:E1 -> {"cannot decode: " ++ short(E1), "", ""}
        end,
    object([{"decoded", text(Decoded)}, {"encoded", text(Encoded)}, {"octets", text(Written)}]).

value({ok, Value}) -> Value;
value({ok, Value, _}) -> Value;
value({error, Reason}) -> error(Reason).

octets({ok, Octets}) -> Octets;
octets({error, Reason}) -> error(Reason).

%% Compiles what has not been compiled yet; the first error is the answer.
compile_modules(Directory, Rule, Files, Modules) ->
    ok = filelib:ensure_dir(filename:join(Directory, "x")),
    Options = maps:get(Rule, ?OPTIONS) ++ [maps, noobj, {outdir, Directory}, {i, Directory}],
    Said = [compile_module(Directory, File, Module, Options) || {File, Module} <- lists:zip(Files, Modules)],
    case [Text || Text <- Said, Text =/= ""] of
        [] -> "";
        [First | _] -> First
    end.

compile_module(Directory, File, Module, Options) ->
    Done = filename:join(Directory, Module ++ ".done"),
    Refused = filename:join(Directory, Module ++ ".refused"),
    case {filelib:is_file(Done), file:read_file(Refused)} of
        {true, _} -> "";
        {_, {ok, Why}} -> binary_to_list(Why);
        _ ->
            Leader = group_leader(),
            group_leader(spawn(fun silence/0), self()),
            Why = try asn1ct:compile(File, [{i, filename:dirname(File)} | Options]) of
                ok -> "";
                {ok, _} -> "";
                {error, Reason} -> Module ++ ": " ++ short(Reason)
            catch
                _:Reason -> Module ++ ": " ++ short(Reason)
            end,
            group_leader(Leader, self()),
            ok = file:write_file(case Why of "" -> Done; _ -> Refused end, Why),
            Why
    end.

%% What the compiler prints is no answer.
silence() ->
    receive
        {io_request, From, As, _} ->
            From ! {io_reply, As, ok},
            silence()
    end.

%% Calls a function of a module made for a rule.
call(Module, Function, Arguments) ->
    Key = {Module, Function, length(Arguments)},
    case get(Key) of
        undefined ->
            get(Module) =:= undefined andalso read(Module),
            case get(Key) of
                undefined -> erlang:error(undef);
                Fun -> apply(Fun, Arguments)
            end;
        Fun ->
            apply(Fun, Arguments)
    end.

%% Reads the source of a module and keeps its functions, ready to be called.
read({Rule, Name} = Module) ->
    put(Module, read),
    Path = filename:join([get(base), Rule, atom_to_list(Name) ++ ".erl"]),
    {ok, Forms} = epp:parse_file(Path, []),
    Local = {value, fun(Function, Arguments) -> call(Module, Function, Arguments) end},
    Other = {value, fun
        ({M, F}, Arguments) ->
            case filelib:is_file(filename:join([get(base), Rule, atom_to_list(M) ++ ".erl"])) of
                true -> call({Rule, M}, F, Arguments);
                false -> apply(M, F, Arguments)
            end;
        (Fun, Arguments) ->
            apply(Fun, Arguments)
    end},
    lists:foreach(
        fun
            ({function, _, Function, Arity, Clauses}) ->
                {value, Fun, _} = erl_eval:expr({'fun', 1, {clauses, explicit(Clauses)}}, [], Local, Other),
                put({Module, Function, Arity}, Fun);
            (_) ->
                ok
        end,
        Forms
    ).

%% The interpreter does not know `fun name/arity`.
explicit({'fun', At, {function, Name, Arity}}) when is_atom(Name) ->
    Variables = [{var, At, list_to_atom("A" ++ integer_to_list(I))} || I <- lists:seq(1, Arity)],
    {'fun', At, {clauses, [{clause, At, Variables, [], [{call, At, {atom, At, Name}, Variables}]}]}};
explicit(Form) when is_tuple(Form) -> list_to_tuple(explicit(tuple_to_list(Form)));
explicit([Head | Tail]) -> [explicit(Head) | explicit(Tail)];
explicit(Form) -> Form.

%% Throws at the first component of a value that is not that of the tree.
compare(["members", Members], Value, Path) when is_map(Value) ->
    Known = [atom(Name) || [Name, _, _] <- Members],
    lists:foreach(
        fun([Name, Tree, How]) ->
            case maps:find(atom(Name), Value) of
                {ok, Part} -> compare(Tree, Part, Path ++ "." ++ Name);
                error when How =:= "given", Name =/= "" -> unlike(Path, "`" ++ Name ++ "` is missing");
                error -> ok
            end
        end,
        Members
    ),
    case maps:keys(Value) -- Known of
        [] -> ok;
        [More | _] -> unlike(Path, "`" ++ atom_to_list(More) ++ "` is there")
    end;
compare(["elements", Trees, "given"], Value, Path) when is_list(Value), length(Value) =:= length(Trees) ->
    lists:foreach(fun({Tree, Part}) -> compare(Tree, Part, Path ++ "[]") end, lists:zip(Trees, Value)),
    ok;
compare(["elements", Trees, "any"], Value, Path) when is_list(Value), length(Value) =:= length(Trees) ->
    lists:foldl(
        fun(Tree, Rest) ->
            case lists:search(fun(Part) -> same(Tree, Part) end, Rest) of
                {value, Part} -> lists:delete(Part, Rest);
                false -> unlike(Path, "no such element: " ++ short(Tree))
            end
        end,
        Value,
        Trees
    ),
    ok;
compare(["choice", Name, Tree], {Alternative, Part}, Path) ->
    case atom(Name) of
        Alternative -> compare(Tree, Part, Path ++ "." ++ Name);
        _ -> unlike(Path, "`" ++ Name ++ "` expected, not " ++ short(Alternative))
    end;
compare(["open", Tree, Octets], Value, Path) ->
    is_octets(Octets, Value) orelse compare(Tree, Value, Path ++ ".content");
compare(["containing", Tree, Octets, "octets"], Value, Path) ->
    is_octets(Octets, Value) orelse compare(Tree, Value, Path ++ ".content");
compare(Tree, Value, Path) ->
    leaf(Tree, Value) orelse unlike(Path, short(Tree) ++ " expected, not " ++ short(Value)).

same(Tree, Value) ->
    try compare(Tree, Value, "") of
        _ -> true
    catch
        throw:{unlike, _, _} -> false
    end.

leaf(["boolean", Value], Value2) -> atom(Value) =:= Value2;
leaf(["integer", Number, Name], Value) -> list_to_integer(Number) =:= Value orelse atom(Name) =:= Value;
leaf(["big", Octets], Value) ->
    Binary = binary:decode_hex(list_to_binary(Octets)),
    Bits = bit_size(Binary),
    <<Number:Bits/signed>> = Binary,
    Number =:= Value;
leaf(["enumerated", Name, Number], Value) ->
    atom(Name) =:= Value orelse {asn1_enum, list_to_integer(Number)} =:= Value;
leaf(["real", "inf", _], Value) -> Value =:= 'PLUS-INFINITY';
leaf(["real", "-inf", _], Value) -> Value =:= 'MINUS-INFINITY';
leaf(["real", Text, _], {Mantissa, Base, Exponent}) -> number(Text) == Mantissa * math:pow(Base, Exponent);
leaf(["real", Text, _], Value) -> number(Text) == number(Value);
leaf(["bits", Octets, Bits, Names], Value) when is_bitstring(Value) ->
    Count = list_to_integer(Bits),
    <<Expected:Count/bitstring, _/bitstring>> = binary:decode_hex(list_to_binary(Octets)),
    Expected =:= Value orelse (Names =/= [] andalso Value =:= <<>> andalso Count =:= 0);
leaf(["bits", _, _, Names], Value) when is_list(Value) ->
    lists:sort([bit(Name) || Name <- Names]) =:= lists:sort(Value);
leaf(["octets", Octets], Value) -> is_octets(Octets, Value);
leaf(["encoding", Octets], Value) -> is_octets(Octets, Value);
leaf(["null"], Value) -> Value =:= 'NULL';
leaf(["oid", Text], Value) -> arcs(Text) =:= Value;
leaf(["relative-oid", Text], Value) -> arcs(Text) =:= Value;
leaf(["text", Kind, Hex], Value) ->
    Utf8 = binary:decode_hex(list_to_binary(Hex)),
    Characters = unicode:characters_to_list(Utf8),
    case Kind of
        "UTF8String" -> Utf8 =:= Value;
        _ when is_list(Value) -> Characters =:= [character(C) || C <- Value];
        _ -> false
    end;
leaf(["time", _, Hex], Value) -> is_list(Value) andalso binary:decode_hex(list_to_binary(Hex)) =:= list_to_binary(Value);
leaf(_, _) -> false.

is_octets(Hex, Value) -> is_binary(Value) andalso binary:decode_hex(list_to_binary(Hex)) =:= Value.

%% Characters beyond the first 256 are quadruples.
character({A, B, C, D}) -> ((A * 256 + B) * 256 + C) * 256 + D;
character(C) -> C.

bit("bit " ++ Number) -> {bit, list_to_integer(Number)};
bit(Name) -> list_to_atom(Name).

arcs(Text) -> list_to_tuple([list_to_integer(Arc) || Arc <- string:tokens(Text, ".")]).

number(Value) when is_number(Value) -> float(Value);
number(Value) when is_list(Value) ->
    case string:tokens(string:lowercase(Value), "e") of
        [Mantissa] -> decimal(Mantissa, "0");
        [Mantissa, Exponent] -> decimal(Mantissa, Exponent)
    end;
number(Value) -> Value.

decimal(Mantissa, [$+ | Exponent]) -> decimal(Mantissa, Exponent);
decimal(Mantissa, Exponent) ->
    Digits = case {lists:member($., Mantissa), lists:last(Mantissa)} of
        {false, _} -> Mantissa ++ ".0";
        {true, $.} -> Mantissa ++ "0";
        _ -> Mantissa
    end,
    list_to_float(Digits ++ "e" ++ Exponent).

unlike(Path, Text) -> throw({unlike, Path, Text}).

atom(Text) -> list_to_atom(Text).

short(Term) -> lists:sublist(lists:flatten(io_lib:format("~0p", [Term])), 200).

%% JSON.
object(Members) -> ["{", lists:join(",", [[text(Key), ":", Value] || {Key, Value} <- Members]), "}"].

text(Characters) -> [$", [escaped(C) || C <- Characters], $"].

escaped($") -> "\\\"";
escaped($\\) -> "\\\\";
escaped(C) when C < 32; C > 126 -> io_lib:format("\\u~4.16.0b", [min(C, 65535)]);
escaped(C) -> C.
