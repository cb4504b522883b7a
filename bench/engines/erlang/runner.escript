#!/usr/bin/env escript
%%! +S 1:1 +SDcpu 1:1 +SDio 1
%% The runner protocol (see ../python_runner.py) for what the asn1 application of Erlang/OTP has made of a specification.
%%
%% Values are maps; what was decoded is told by what it is encoded to. There is one scheduler, so that the time of the
%% emulator is that of the work.
-mode(compile).

main([Folder, Type]) ->
    code:add_patha(Folder),
    io:setopts(standard_io, [{encoding, latin1}]),
    Config = configuration(#{}),
    Root = list_to_atom(Type),
    try
        application:load(asn1),
        {ok, Version} = application:get_key(asn1, vsn),
        Records = records(maps:get("records", Config), list_to_integer(maps:get("limit", Config, "0"))),
        Octets = lists:sum([byte_size(Record) || Record <- Records]),
        Values = [value(spec:decode(Root, Record)) || Record <- Records],
        Work = case maps:get("op", Config) of
            "decode" -> {fun(Record) -> {ok, _} = spec:decode(Root, Record) end, Records};
            "encode" -> {fun(Value) -> {ok, _} = spec:encode(Root, Value) end, Values}
        end,
        say(["{\"ready\": true, \"name\": \"Erlang/OTP ", erlang:system_info(otp_release), " asn1 ", Version,
             "\", \"records\": ", integer_to_list(length(Records)), "}"]),
        loop(Work, Root, Values, length(Records), Octets)
    catch
        _:Reason ->
            Text = lists:flatten(io_lib:format("~0p", [Reason])),
            Plain = [C || C <- lists:sublist(Text, 200), C =/= $", C =/= $\\, C >= 32],
            say(["{\"ready\": false, \"error\": \"", Plain, "\"}"])
    end.

configuration(Known) ->
    case string:trim(io:get_line("")) of
        "go" -> Known;
        Line ->
            [Key | Rest] = string:split(Line, " "),
            configuration(Known#{Key => lists:append(Rest)})
    end.

loop(Work, Root, Values, Count, Octets) ->
    case io:get_line("") of
        "run " ++ Seconds ->
            Limit = seconds(string:trim(Seconds)) * 1000,
            erlang:garbage_collect(),
            {Passes, Spent} = passes(Work, Limit, milliseconds(), 0),
            say(io_lib:format("{\"records\": ~b, \"octets\": ~b, \"ns\": ~b}",
                [Passes * Count, Passes * Octets, Spent * 1000000])),
            loop(Work, Root, Values, Count, Octets);
        "dump " ++ Number ->
            First = lists:sublist(Values, list_to_integer(string:trim(Number))),
            [say(["{\"hex\": \"", binary:encode_hex(octets(spec:encode(Root, Value))), "\"}"]) || Value <- First],
            say("{\"end\": true}"),
            loop(Work, Root, Values, Count, Octets);
        _ ->
            ok
    end.

passes({Once, Items} = Work, Limit, Start, Done) ->
    lists:foreach(Once, Items),
    case milliseconds() - Start of
        Spent when Spent >= Limit -> {Done + 1, Spent};
        _ -> passes(Work, Limit, Start, Done + 1)
    end.

%% CPU time of the emulator.
milliseconds() ->
    {Total, _} = erlang:statistics(runtime),
    Total.

seconds(Text) ->
    try list_to_float(Text) catch _:_ -> float(list_to_integer(Text)) end.

value({ok, Value}) -> Value;
value({ok, Value, _}) -> Value.

octets({ok, Octets}) -> Octets.

%% Records, each after a length of four octets.
records(Path, Limit) ->
    {ok, Data} = file:read_file(Path),
    All = split(Data),
    case Limit of 0 -> All; _ -> lists:sublist(All, Limit) end.

split(<<Length:32, Record:Length/binary, Rest/binary>>) -> [binary:copy(Record) | split(Rest)];
split(_) -> [].

say(Line) -> io:put_chars([Line, $\n]).
